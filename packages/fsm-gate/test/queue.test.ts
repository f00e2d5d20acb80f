import { describe, expect, it } from 'vitest';
import { KeyedQueue } from '../src/sessions/queue.js';

/** What a queue keeps, told by the one thing that a caller can see: whether a line is the one of before. */
function isKept(queue: KeyedQueue<string>, key: string, line: unknown): boolean {
  const again = queue.enter(key, 0, undefined);
  if (again instanceof Promise) throw new Error(`${key} should be free`);
  queue.leave(again);
  return again === line;
}

function enterAtOnce(queue: KeyedQueue<string>, key: string) {
  const line = queue.enter(key, 0, undefined);
  if (line instanceof Promise) throw new Error(`${key} should be free`);
  return line;
}

const timers = { setTimeout: () => 0, clearTimeout: () => {} };

describe('a queue by key', () => {
  it('finds the line of who comes back, and forgets those of a thousand who do not', () => {
    const queue = new KeyedQueue<string>(timers);
    const first = enterAtOnce(queue, 'first');
    queue.leave(first);
    expect(isKept(queue, 'first', first)).toBe(true);
    for (let at = 0; at < 1_000; at += 1) queue.leave(enterAtOnce(queue, `other ${at}`));
    expect(isKept(queue, 'first', first)).toBe(false);
  });

  it('never forgets a line in which somebody has the turn', async () => {
    const queue = new KeyedQueue<string>(timers);
    const held = enterAtOnce(queue, 'held');
    for (let at = 0; at < 1_000; at += 1) queue.leave(enterAtOnce(queue, `other ${at}`));
    const next = queue.enter('held', 1_000, undefined);
    expect(next).toBeInstanceOf(Promise);
    queue.leave(held);
    expect(await next).toBe(held);
  });
});
