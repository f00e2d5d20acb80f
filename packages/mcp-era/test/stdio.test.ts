import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostileStdioMode, hostileStdio } from '@mcp-interlock/test-kit/era-hostile-stdio';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { classifyEraAnswer, type EraRuleName, type McpEraProbeAnswer } from '../src/index.js';
import { createStdioProbe, probeTransport, StdioTransport } from '../src/stdio.js';
import { aClock, type Clock } from './clock.js';
import { gone, isRunning } from './processes.js';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'era-stdio-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const verdictOf = (answer: McpEraProbeAnswer): ReturnType<typeof classifyEraAnswer> =>
  classifyEraAnswer(answer, { transport: 'stdio' });

async function aStarted(
  mode: HostileStdioMode,
  options: { note?: string; clock?: Clock; maxLineBytes?: number } = {},
): Promise<StdioTransport> {
  const { note, clock, maxLineBytes } = options;
  const transport = new StdioTransport({ ...hostileStdio(mode, note), maxLineBytes, setTimer: clock?.setTimer });
  await transport.start();
  return transport;
}

/** Lets everything that waits for nothing but other promises come to rest. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The next message of a transport. */
const nextMessage = (transport: StdioTransport): Promise<unknown> =>
  new Promise((resolve) => {
    transport.onmessage = resolve;
  });

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
};

describe('the stdio probe reads', () => {
  test.each<[HostileStdioMode, 'modern' | 'legacy' | 'undetermined', EraRuleName]>([
    ['modern', 'modern', 'a modern version in common'],
    ['dual', 'modern', 'a modern version in common'],
    ['beside', 'modern', 'a modern version in common'],
    ['two-answers', 'modern', 'a modern version in common'],
    ['legacy', 'legacy', 'not a modern error'],
    ['null-id', 'legacy', 'not a modern error'],
    ['floods-stderr', 'legacy', 'not a modern error'],
    ['chatty', 'legacy', 'not a modern error'],
    ['ignores-sigterm', 'legacy', 'not a modern error'],
    ['exits-on-question', 'legacy', 'an exit'],
    ['exits-at-once', 'legacy', 'an exit'],
  ])('a %s server as %s: %s', async (mode, kind, rule) => {
    const answer = await createStdioProbe({ ...hostileStdio(mode), timeoutMs: 60_000, closeGraceMs: 200 })(
      '2026-07-28',
    );
    expect(verdictOf(answer)).toMatchObject({ kind, evidence: { rule } });
  });

  test.each<HostileStdioMode>(['silent', 'dead', 'wrong-ids', 'drips', 'closes-stdout'])(
    'a %s server as silent, when the time is up',
    async (mode) => {
      const transport = await aStarted(mode);
      const clock = aClock();
      const asking = probeTransport(transport, '2026-07-28', { setTimer: clock.setTimer });
      clock.advance(2_999);
      clock.advance(1);
      expect(await asking).toEqual({ kind: 'timeout' });
      await transport.close();
    },
  );

  test('a command that is not there as unavailable, by its name', async () => {
    const verdict = verdictOf(await createStdioProbe({ command: 'no-such-command-anywhere' })('2026-07-28'));
    expect(verdict).toMatchObject({ kind: 'undetermined', reason: { kind: 'unavailable' } });
    expect(verdict.evidence.received).toContain('no-such-command-anywhere');
  });

  test('how a server exited, and what it said last', async () => {
    const verdict = verdictOf(await createStdioProbe(hostileStdio('exits-at-once'))('2026-07-28'));
    expect(verdict.evidence.received).toMatch(/code 3.*missing API_KEY/);
  });

  test('a line of a gigabyte as no answer at all', async () => {
    const probe = createStdioProbe({ ...hostileStdio('long-line'), maxLineBytes: 1_000_000, timeoutMs: 60_000 });
    const verdict = verdictOf(await probe('2026-07-28'));
    expect(verdict).toMatchObject({ kind: 'undetermined', reason: { kind: 'unavailable' } });
    expect(verdict.evidence.received).toContain('1000000 bytes');
  });

  test('nothing when the caller has gone', async () => {
    const gone = new Error('gone');
    const leaving = new AbortController();
    const asking = createStdioProbe({ ...hostileStdio('dead'), timeoutMs: 60_000 })('2026-07-28', {
      signal: leaving.signal,
    });
    leaving.abort(gone);
    expect(await asking).toEqual({ kind: 'error', error: gone });
  });
});

describe('a stdio process', () => {
  test('is asked, and goes on as the same process: the connection stays usable', async () => {
    const transport = await aStarted('legacy');
    expect((await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 })).kind).toBe('error');
    const initialized = nextMessage(transport);
    await transport.send(INITIALIZE);
    expect(await initialized).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } });
    await transport.close();
  });

  test('is asked while it is in use, and other messages reach their receiver', async () => {
    const transport = await aStarted('legacy');
    const received: unknown[] = [];
    const initialized = new Promise<void>((resolve) => {
      transport.onmessage = (message) => {
        received.push(message);
        resolve();
      };
    });
    const asking = probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    await transport.send(INITIALIZE);
    await Promise.all([asking, initialized]);
    expect(received).toMatchObject([{ id: 0 }]);
    await transport.close();
  });

  test('is gone after close, though it ignores SIGTERM', async () => {
    const clock = aClock();
    const transport = await aStarted('ignores-sigterm', { clock });
    await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    const closing = transport.close();
    clock.advance(2000);
    await settle();
    expect(isRunning(transport.pid as number)).toBe(true);
    clock.advance(2000);
    await closing;
    expect(await transport.exit).toEqual({ code: null, signal: 'SIGKILL' });
    await gone(transport.pid as number);
  });

  test('takes its descendants with it, though they hold its pipes', async () => {
    const note = join(dir, 'child.pid');
    const transport = await aStarted('leaves-children', { note });
    await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    const child = Number(await readFile(note, 'utf8'));
    expect(isRunning(child)).toBe(true);
    await transport.close();
    await gone(child);
    await gone(transport.pid as number);
  });

  test('takes its descendants with it when it dies by itself', async () => {
    const note = join(dir, 'child.pid');
    const transport = await aStarted('leaves-children', { note });
    await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    process.kill(transport.pid as number, 'SIGKILL');
    expect(await transport.exit).toEqual({ code: null, signal: 'SIGKILL' });
    await gone(Number(await readFile(note, 'utf8')));
  });

  test('whose group refuses to be signalled ends nobody else: it is told of', async () => {
    const transport = await aStarted('legacy');
    const errors: Error[] = [];
    transport.onerror = (error) => errors.push(error);
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    try {
      await transport.close();
    } finally {
      kill.mockRestore();
    }
    expect(errors.map(({ message }) => message)).toEqual(['kill EPERM']);
    await gone(transport.pid as number);
  });

  test('that writes a line of a gigabyte is ended at the cap', async () => {
    const transport = await aStarted('long-line', { maxLineBytes: 1_000_000 });
    const errors: Error[] = [];
    transport.onerror = (error) => errors.push(error);
    const answer = await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    expect(answer).toMatchObject({ kind: 'error' });
    expect(errors[0]?.message).toContain('1000000 bytes');
    await transport.exit;
    await gone(transport.pid as number);
  });

  test('that writes log lines to stdout is understood, and the lines are told of', async () => {
    const transport = await aStarted('chatty');
    const errors: Error[] = [];
    transport.onerror = (error) => errors.push(error);
    await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 });
    expect(errors[0]).toBeInstanceOf(SyntaxError);
    await transport.close();
  });

  test('has its stderr read in any case, and its end kept', async () => {
    const heard: string[] = [];
    const transport = new StdioTransport({ ...hostileStdio('floods-stderr'), onStderr: (text) => heard.push(text) });
    await transport.start();
    expect((await probeTransport(transport, '2026-07-28', { timeoutMs: 60_000 })).kind).toBe('error');
    expect(heard.join('').length).toBeGreaterThan(1_000_000);
    expect(transport.stderrTail.length).toBe(4096);
    await transport.close();
  });

  test('is started once, is not sent anything after its end, and may be closed twice', async () => {
    const transport = await aStarted('legacy');
    expect(() => transport.start()).toThrow(/started already/);
    await transport.close();
    await transport.close();
    await expect(transport.send({})).rejects.toMatchObject({ code: 'SERVER_EXITED' });
    await new StdioTransport({ command: 'never-started' }).close();
    expect(() => new StdioTransport({ command: '' })).toThrow(/command/);
  });

  test('that repeats a variable as it dies does not get it into the evidence', async () => {
    const program = "process.stderr.write('bad key ' + process.env.API_KEY); process.exit(1)";
    const server = { command: process.execPath, args: ['-e', program], env: { API_KEY: 'hunter2-hunter2' } };
    const answer = await createStdioProbe({ ...server, timeoutMs: 60_000 })('2026-07-28');
    expect(answer).toMatchObject({ error: { message: expect.stringContaining('It said: bad key ***') } });
    expect(classifyEraAnswer(answer, { transport: 'stdio' }).evidence.received).not.toContain('hunter2');
  });

  test('gets few variables of ours, and those that it is given', async () => {
    process.env.ERA_TEST_SECRET = 'hunter2';
    const program = 'process.stdin.on("data", () => console.log(JSON.stringify({ env: process.env })))';
    const transport = new StdioTransport({ command: process.execPath, args: ['-e', program], env: { GIVEN: 'yes' } });
    await transport.start();
    const message = nextMessage(transport);
    await transport.send({});
    const { env } = (await message) as { env: Record<string, string> };
    expect(env).toMatchObject({ GIVEN: 'yes', PATH: process.env.PATH });
    expect(env).not.toHaveProperty('ERA_TEST_SECRET');
    await transport.close();
    delete process.env.ERA_TEST_SECRET;
  });
});
