import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { newAgentRunId } from '../src/index.js';
import { createSharedWrite } from '../src/redis/shared-write.js';
import { RedisAgentRunStore } from '../src/redis.js';
import { aPausedRun } from './support/runs.js';

/** A socket that notes what each write carries. */
function aSocket() {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      writes.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  return { stream, writes };
}

const busy = (): boolean => false;

describe('a shared write', () => {
  it('sends the commands of one turn together, in their order, when the turn ends', async () => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: busy });
    for (const command of ['a', 'b', 'c']) {
      share('one');
      stream.write(command);
      await Promise.resolve();
    }
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual(['abc']);
    share('one');
    stream.write('d');
    await turn();
    expect(writes).toEqual(['abc', 'd']);
  });

  it("lets go at the end of the turn also under a test's fake timers", async () => {
    const { stream, writes } = aSocket();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const share = createSharedWrite({ client: { stream }, isIdle: busy });
    share('one');
    stream.write('a');
    vi.useRealTimers();
    await turn();
    expect(writes).toEqual(['a']);
  });

  it.each(['end', 'destroy'] as const)('leaves nothing held on a socket that is told to %s meanwhile', async (act) => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: busy });
    share('pair');
    stream.write('a'.repeat(100_000));
    stream[act]();
    share('pair'); // Much is in hand: it would write, were there a socket.
    await turn();
    expect(stream.writableCorked).toBe(0);
    expect(writes.map(({ length }) => length)).toEqual(act === 'end' ? [100_000] : []);
  });

  it('leaves what somebody else has corked to them', async () => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: busy });
    stream.cork();
    share('one');
    stream.write('a');
    await turn();
    expect([writes, stream.writableCorked]).toEqual([[], 1]);
    stream.uncork();
    expect(writes).toEqual(['a']);
  });

  it('does not make a command wait that is alone', () => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: () => true });
    share('one');
    stream.write('a');
    expect(writes).toEqual(['a']);
  });

  it('sends a pair that is alone in one write, as soon as what called it has returned', async () => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: () => true });
    share('pair');
    stream.write('a');
    stream.write('b');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(writes).toEqual(['ab']);
  });

  it('begins to write before the turn ends when much is in hand', async () => {
    const { stream, writes } = aSocket();
    const share = createSharedWrite({ client: { stream }, isIdle: busy });
    for (const command of ['a'.repeat(100_000), 'b', 'c']) {
      share('one');
      stream.write(command);
    }
    expect(writes.map((written) => written.length)).toEqual([100_000]);
    await turn();
    expect(writes.slice(1)).toEqual(['bc']);
  });

  it('lets go of the socket that it held when the client has another by the end of the turn', async () => {
    const [before, after] = [aSocket(), aSocket()];
    const client = { stream: before.stream };
    const share = createSharedWrite({ client, isIdle: busy });
    share('one');
    before.stream.write('a');
    client.stream = after.stream;
    share('one');
    after.stream.write('b');
    await turn();
    expect([before.writes, after.writes]).toEqual([['a'], ['b']]);
    expect([before.stream.writableCorked, after.stream.writableCorked]).toEqual([0, 0]);
  });

  it.each([undefined, null, {}, { cork() {} }, 'stream'])(
    'leaves alone a client whose stream is %j',
    async (stream) => {
      const share = createSharedWrite({ client: { stream }, isIdle: busy });
      expect(() => share('one')).not.toThrow();
      await turn();
    },
  );
});

/** How often the stream has been written to, from now on. */
function countWrites(stream: Writable): () => number {
  let count = 0;
  for (const name of ['_write', '_writev'] as const) {
    const original = stream[name];
    if (original === undefined) continue;
    const counted = (...args: unknown[]): unknown => {
      count += 1;
      return Reflect.apply(original, stream, args);
    };
    Object.defineProperty(stream, name, { value: counted, configurable: true });
  }
  return () => count;
}

const url = inject('redisUrl');

describe.skipIf(url === undefined).each([
  ['ioredis 6', () => new Redis(url!)],
  ['ioredis 5', () => new Redis5(url!)],
  ['ioredis 6 with autopipelining', () => new Redis(url!, { enableAutoPipelining: true })],
])('on %s', (_, connect) => {
  it('calls that meet on a busy connection share a write, and each gets its own answer', async () => {
    const client = connect();
    onTestFinished(() => client.disconnect());
    await once(client, 'ready');
    const store = new RedisAgentRunStore({ client });
    const ids = Array.from({ length: 20 }, newAgentRunId);
    await Promise.all(ids.map((id) => store.store(id, aPausedRun({ meta: id }))));
    const writes = countWrites(client.stream);
    const taken = await Promise.all(ids.map((id) => store.consume(id)));
    expect(taken.map((state) => state?.meta)).toEqual(ids);
    expect(writes()).toBeLessThanOrEqual(2);
    expect(client.stream.writableCorked).toBe(0);
  });
});
