import { describe, expect, test } from 'vitest';
import { type IMcpProxyToolOptions, McpProxyTool, type ProxyEvent } from '../../src/index.js';
import { aGate, aTool, FakeUpstream, ManualClock, providerOf, specsOf, until } from '../support/fake-upstream.js';

function aProxy(options: IMcpProxyToolOptions = {}) {
  const clock = new ManualClock();
  const upstreams = { slow: new FakeUpstream([aTool('work')]), fast: new FakeUpstream([aTool('help')]) };
  const log: string[] = [];
  const events: ProxyEvent[] = [];
  const proxy = new McpProxyTool(providerOf(upstreams), specsOf(upstreams), {
    now: clock.now,
    setTimer: clock.setTimer,
    debugLog: (line) => log.push(line),
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { clock, upstreams, proxy, tool: proxy.asTool(), log, events };
}

/** An upstream whose connect waits until the test lets it. */
function held(upstream: FakeUpstream) {
  const gate = aGate();
  upstream.onConnect = () => gate.opened;
  return gate;
}

describe('one connect for all who wait', () => {
  test('N concurrent calls make one connect', async () => {
    const { tool, upstreams } = aProxy();
    const gate = held(upstreams.slow);
    const answers = Array.from({ length: 20 }, () => tool.execute({ tool: 'work', server: 'slow' }));
    await until(() => upstreams.slow.connects === 1);
    gate.open();
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['done']));
    expect([upstreams.slow.connects, upstreams.slow.lists]).toEqual([1, 1]);
  });

  test("one caller's abort neither kills the shared connect nor marks the server failed", async () => {
    const { tool, upstreams } = aProxy();
    const gate = held(upstreams.slow);
    const giveUp = new AbortController();
    const impatient = tool.execute({ tool: 'work', server: 'slow' }, giveUp.signal);
    const patient = tool.execute({ tool: 'work', server: 'slow' });
    await until(() => upstreams.slow.connects === 1);
    const reason = new Error('the user left');
    giveUp.abort(reason);
    await expect(impatient).rejects.toBe(reason);
    expect(await tool.execute({})).toContain('slow: connecting');
    gate.open();
    expect(await patient).toBe('done');
    expect(upstreams.slow.connects).toBe(1);
  });

  test('an abort settles at once though the connect hangs for ever, and an aborted signal starts nothing', async () => {
    const { tool, upstreams } = aProxy();
    held(upstreams.slow);
    const giveUp = new AbortController();
    const hanging = tool.execute({ search: 'work' }, giveUp.signal);
    await until(() => upstreams.slow.connects === 1);
    giveUp.abort('enough');
    await expect(hanging).rejects.toBe('enough');
    await expect(tool.execute({ connect: 'fast' }, AbortSignal.abort('never'))).rejects.toBe('never');
  });

  test('connecting anew waits for a list that is under way, and lists once more', async () => {
    const { tool, upstreams } = aProxy();
    await tool.execute({ connect: 'slow' });
    const gate = aGate();
    upstreams.slow.onList = () => gate.opened;
    upstreams.slow.announceTools([aTool('work'), aTool('more')]);
    const search = tool.execute({ search: 'more' });
    await until(() => upstreams.slow.lists === 2);
    const connect = tool.execute({ connect: 'slow' });
    gate.open();
    expect(await search).toContain('slow: more');
    expect(await connect).toContain('connected (2 tools)');
    expect(upstreams.slow.lists).toBe(3);
  });
});

describe('a server that hangs', () => {
  test('is named and skipped after its time, while the others answer', async () => {
    const { tool, upstreams, clock } = aProxy();
    held(upstreams.slow);
    const found = tool.execute({ search: 'help' });
    await until(() => upstreams.slow.connects === 1 && upstreams.fast.lists === 1);
    clock.advance(30_000);
    const text = await found;
    expect(text).toContain('fast: help');
    expect(text).toContain('- slow: "slow" gave no answer within 30 s.');
  });

  test('may have a time of its own, and the list counts towards it', async () => {
    const { proxy, tool, upstreams, clock } = aProxy({ connectTimeoutMs: 5_000 });
    await proxy.setSpecs([{ serverName: 'slow', resourceIds: [], connectTimeoutMs: 200 }]);
    upstreams.slow.onList = () => aGate().opened;
    const connecting = tool.execute({ connect: 'slow' });
    await until(() => upstreams.slow.lists === 1);
    clock.advance(200);
    expect(await connecting).toContain('no answer within 0.2 s');
    await until(() => upstreams.slow.closes === 1);
  });

  test('a connection that comes too late is closed', async () => {
    const { tool, upstreams, clock } = aProxy();
    const gate = held(upstreams.slow);
    const connecting = tool.execute({ connect: 'slow' });
    await until(() => upstreams.slow.connects === 1);
    clock.advance(30_000);
    await connecting;
    gate.open();
    await until(() => upstreams.slow.closes === 1);
    expect(await tool.execute({})).toContain('slow: failed');
  });
});

describe('a server that fails', () => {
  test('is left alone for a growing while, then tried again', async () => {
    const { tool, upstreams, clock } = aProxy({ backoff: { initialMs: 1_000, factor: 2, maxMs: 3_000 } });
    upstreams.slow.onConnect = () => Promise.reject(new Error('down'));
    const call = () => tool.execute({ tool: 'work', server: 'slow' });
    for (const [waitMs, connects] of [
      [0, 1],
      [999, 1],
      [1, 2],
      [1_999, 2],
      [1, 3],
      [2_999, 3],
      [1, 4],
      [3_000, 5],
    ] as const) {
      clock.advance(waitMs);
      expect(await call()).toMatch(/slow: failed.*down/);
      expect(upstreams.slow.connects).toBe(connects);
    }
    upstreams.slow.onConnect = async () => {};
    clock.advance(3_000);
    expect(await call()).toBe('done');
    expect(await tool.execute({})).toContain('slow: connected');
  });

  test('an explicit connect ignores the back-off', async () => {
    const { tool, upstreams } = aProxy();
    upstreams.slow.onConnect = () => Promise.reject(new Error('down'));
    await tool.execute({ connect: 'slow' });
    upstreams.slow.onConnect = async () => {};
    expect(await tool.execute({ connect: 'slow' })).toContain('connected (1 tool)');
  });

  test('a provider that throws at once, or a reason full of control characters, does no harm', async () => {
    const proxy = new McpProxyTool(
      {
        connect: () => {
          throw new Error('bad\u001b[2J config');
        },
      },
      [{ serverName: 'x', resourceIds: [] }],
    );
    expect(await proxy.asTool().execute({ connect: 'x' })).toContain('failed (bad config)');
  });

  test('events tell the story, and an event hook that throws changes nothing', async () => {
    const { tool, upstreams, events } = aProxy();
    upstreams.slow.onConnect = () => Promise.reject(new Error('down'));
    await tool.execute({ connect: 'slow' });
    upstreams.slow.onConnect = async () => {};
    await tool.execute({ tool: 'work', server: 'slow' }); // still backing off
    await tool.execute({ connect: 'slow' });
    await tool.execute({ tool: 'work' });
    expect(events.map(({ type }) => type)).toEqual(['connecting', 'connect_failed', 'connecting', 'connected', 'call']);
    const angry = aProxy({
      onEvent: () => {
        throw new Error('metrics');
      },
      debugLog: () => {
        throw new Error('log');
      },
    });
    expect(await angry.tool.execute({ tool: 'work', server: 'slow' })).toBe('done');
  });
});

describe('a connection that ends', () => {
  test('by a crash is shown with its reason, and the next use connects again', async () => {
    const { tool, upstreams } = aProxy();
    await tool.execute({ connect: 'slow' });
    upstreams.slow.hangUp(new Error('exit code 137'));
    expect(await tool.execute({})).toContain('slow: not connected (1 tool known); lost: exit code 137');
    expect(await tool.execute({ search: 'work', server: 'slow' })).toContain('slow: work');
    expect(upstreams.slow.connects).toBe(1);
    expect(await tool.execute({ tool: 'work' })).toBe('done');
    expect(upstreams.slow.connects).toBe(2);
  });

  test('on purpose (idle) is no failure', async () => {
    const { tool, upstreams } = aProxy();
    await tool.execute({ connect: 'slow' });
    upstreams.slow.hangUp();
    expect(await tool.execute({})).toMatch(/slow: not connected \(1 tool known\)\n/);
  });

  test('an older connection that hangs up late does not end the newer one', async () => {
    const { tool, upstreams, proxy } = aProxy();
    await tool.execute({ connect: 'slow' });
    const before = upstreams.slow.listenersOfClose();
    await proxy.closeAll();
    await tool.execute({ connect: 'slow' });
    for (const listener of before) listener(new Error('late'));
    expect(await tool.execute({})).toContain('slow: connected');
  });
});

describe('lists that change', () => {
  test('a list that cannot be fetched anew leaves the earlier tools and the connection', async () => {
    const { tool, upstreams, log } = aProxy();
    await tool.execute({ connect: 'slow' });
    upstreams.slow.onList = () => Promise.reject(new Error('busy'));
    upstreams.slow.announceTools([]);
    expect(await tool.execute({ tool: 'work' })).toBe('done');
    expect(log.join()).toContain('could not list its tools anew: busy');
    expect(await tool.execute({ connect: 'slow' })).toContain('Try again');
    expect(upstreams.slow.closes).toBe(0);
  });

  test('a ttl above 0 is honoured on a living connection, 0 means that nothing was said', async () => {
    for (const [ttlMs, lists] of [
      [1_000, 2],
      [0, 1],
      [undefined, 1],
      [-5, 1],
    ] as const) {
      const { tool, upstreams, clock } = aProxy();
      upstreams.slow.ttlMs = ttlMs;
      await tool.execute({ connect: 'slow' });
      clock.advance(1_000);
      await tool.execute({ tool: 'work' });
      expect(upstreams.slow.lists).toBe(lists);
    }
  });
});

describe('closeAll', () => {
  test('closes every server once, ignores their errors, may be called again, and the next use connects', async () => {
    const { tool, upstreams, proxy, clock } = aProxy();
    await tool.execute({ search: 'work' });
    await Promise.all([proxy.closeAll(), proxy.closeAll()]);
    await proxy.closeAll();
    expect([upstreams.slow.closes, upstreams.fast.closes]).toEqual([1, 1]);
    expect(clock.pendingTimers).toBe(0);
    expect(await tool.execute({ tool: 'work' })).toBe('done');
    expect(upstreams.slow.connects).toBe(2);
  });

  test('covers connects in flight: their waiters are answered, and a late connection is closed', async () => {
    const { tool, upstreams, proxy } = aProxy();
    const gate = held(upstreams.slow);
    const waiting = tool.execute({ tool: 'work', server: 'slow' });
    await until(() => upstreams.slow.connects === 1);
    await proxy.closeAll();
    expect(await waiting).toContain('"slow" was closed while it was connecting');
    gate.open();
    await until(() => upstreams.slow.closes === 1);
    expect(await tool.execute({})).toContain('slow: not connected');
  });

  test('a server whose close fails, or never ends, keeps nobody waiting', async () => {
    const { tool, upstreams, proxy, clock, log } = aProxy();
    await tool.execute({ search: 'work' });
    upstreams.slow.onClose = () => Promise.reject(new Error('already gone'));
    upstreams.fast.onClose = () => aGate().opened;
    const closed = proxy.closeAll();
    await until(() => upstreams.fast.closes === 1);
    clock.advance(10_000);
    await closed;
    expect(log.join()).toContain('already gone');
  });
});
