import { describe, expect, it } from 'vitest';
import { type GateStore, memoryGateStore } from '../src/sessions/index.js';

const START = { state: 'start', updatedAt: 0 };

function aRequest(id: string, leaseMs = 1_000) {
  return { id, tool: 'tool', initial: () => START, leaseMs, onlyIn: undefined };
}

async function write(store: GateStore, key: string): Promise<void> {
  await store.force(key, { state: key, updatedAt: 0 });
}

describe('the memory store', () => {
  it('keeps at most as many sessions as it is told, the least recently used goes first', async () => {
    const store = memoryGateStore({ maxSessions: 3 });
    for (const key of ['a', 'b', 'c']) await write(store, key);
    await store.read('a');
    await write(store, 'd');
    expect(await store.read('b')).toBeUndefined();
    for (const key of ['a', 'c', 'd']) expect((await store.read(key))?.snapshot.state).toBe(key);
  });

  it('never drops a session whose lease is alive', async () => {
    const store = memoryGateStore({ maxSessions: 1 });
    await write(store, 'held');
    await store.reserve('held', aRequest('1'));
    await write(store, 'other');
    expect((await store.read('held'))?.snapshot.state).toBe('held');
    expect((await store.reserve('held', aRequest('2'))).kind).toBe('held');
  });

  it('stays quick and bounded where thousands of calls are in flight', async () => {
    let looks = 0;
    const now = () => {
      looks += 1;
      return 0;
    };
    const store = memoryGateStore({ maxSessions: 10, now });
    const fences: number[] = [];
    for (let at = 0; at < 5_000; at += 1) {
      const outcome = await store.reserve(`${at}`, aRequest(`${at}`));
      if (outcome.kind === 'granted') fences.push(outcome.fence);
    }
    expect(fences).toHaveLength(5_000);
    // Each looks at a few of the others, not at all of them.
    expect(looks).toBeLessThan(5_000 * 50);
    for (const [at, fence] of fences.entries()) {
      expect(await store.commit(`${at}`, fence, { state: 'moved', updatedAt: 1 })).toMatchObject({ kind: 'committed' });
    }
    await write(store, 'next');
    let kept = 0;
    for (let at = 0; at < 5_000; at += 1) if (await store.read(`${at}`)) kept += 1;
    expect(kept).toBe(9);
  });

  it('does not grow by sessions that are only read or refused', async () => {
    const store = memoryGateStore({ maxSessions: 2 });
    await write(store, 'kept');
    for (let at = 0; at < 100; at += 1) {
      await store.read(`stranger ${at}`);
      await store.reserve(`stranger ${at}`, { ...aRequest('x'), onlyIn: ['elsewhere'] });
    }
    expect((await store.read('kept'))?.snapshot.state).toBe('kept');
  });

  it('forgets a session that nobody touched for its time to live', async () => {
    let time = 0;
    const store = memoryGateStore({ ttlMs: 100, now: () => time });
    await write(store, 'a');
    time = 99;
    expect(await store.read('a')).toBeDefined();
    time = 198;
    expect(await store.read('a')).toBeDefined();
    time = 298;
    expect(await store.read('a')).toBeUndefined();
  });

  it('does not forget a session while its lease is alive', async () => {
    let time = 0;
    const store = memoryGateStore({ ttlMs: 100, now: () => time });
    const outcome = await store.reserve('a', aRequest('1', 10_000));
    time = 5_000;
    await write(store, 'b');
    const fence = outcome.kind === 'granted' ? outcome.fence : 0;
    expect(await store.commit('a', fence, { state: 'moved', updatedAt: 1 })).toEqual({ kind: 'committed', version: 1 });
  });
});
