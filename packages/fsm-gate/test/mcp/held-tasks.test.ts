import { expect, test } from 'vitest';
import { HeldTasks } from '../../src/mcp/held-tasks.js';
import { openShop } from './shop.js';

test('a second task of the same id frees the session of the first, which nobody could settle any more', async () => {
  const { sessions } = openShop({ contention: 'refuse' });
  const timers = { setTimeout: () => 0, clearTimeout: () => {} };
  const errors: unknown[] = [];
  // A server without a task store: its tasks are told of by `settleTask` alone.
  const tasks = new HeldTasks({} as never, { timers, onError: (error) => errors.push(error) });
  const working = { taskId: 'same', status: 'working', ttlMs: undefined };
  const [ann, bob] = [await sessions.reserve('ann', 'cart_add_item'), await sessions.reserve('bob', 'cart_add_item')];
  if (ann.kind !== 'admitted' || bob.kind !== 'admitted') throw new Error('both should be let through');

  await tasks.hold(working, ann.call);
  await tasks.hold(working, bob.call);
  await tasks.settle('same', 'completed', {});

  expect((await sessions.inspect('ann')).state).toBe('empty');
  expect((await sessions.inspect('bob')).state).toBe('has_items');
  // Ann's session is free again.
  expect((await sessions.reserve('ann', 'cart_add_item')).kind).toBe('admitted');
  expect(errors).toEqual([]);
});
