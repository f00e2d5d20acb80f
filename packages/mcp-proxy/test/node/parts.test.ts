import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { McpConnectionError } from '../../src/index.js';
import { CallClock } from '../../src/node/call-clock.js';
import { callFate } from '../../src/node/call-fate.js';
import { spawnCommand } from '../../src/node/command-line.js';
import { parseConfig } from '../../src/node/config.js';
import { FloodGate } from '../../src/node/flood-gate.js';
import { hostCan } from '../../src/node/host-channel.js';
import { answerInputs } from '../../src/node/input-rounds.js';
import { LineSplitter } from '../../src/node/lines.js';
import { createSecrets, type Redactor } from '../../src/node/secrets.js';
import { exposedName } from '../../src/server/direct-tools.js';
import { fitResult } from '../../src/server/host-result.js';

/** A redactor of a server with these values in its entry. */
function redactorOf(values: readonly string[]): Redactor {
  const env = Object.fromEntries(values.map((value, index) => [`TOKEN_${index}`, value]));
  const { servers } = parseConfig({ mcpServers: { up: { command: 'x', env } } }, { variables: {} });
  const config = servers.get('up');
  return config ? createSecrets(config).redact : (text) => text;
}

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string().filter((line) => !/[\r\n]/.test(line))),
        fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const splitter = new LineSplitter(10_000);
          const got: string[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value as number;
            got.push(...splitter.push(bytes.subarray(at, at + size)));
            at += size;
          }
          // A lone surrogate has no bytes of its own; UTF-8 turns it into U+FFFD.
          expect(got).toEqual(lines.map((line) => Buffer.from(line).toString()));
        },
      ),
    );
  });

  it('that are too long are refused, however they come', () => {
    expect(() => new LineSplitter(10).push(Buffer.alloc(11, 'x'))).toThrow('longer than 10 bytes');
    const splitter = new LineSplitter(10);
    splitter.push(Buffer.alloc(10, 'x'));
    expect(() => splitter.push(Buffer.from('x'))).toThrow();
  });

  it('may end as on Windows', () => {
    expect(new LineSplitter(100).push(Buffer.from('a\r\nb\r\n'))).toEqual(['a', 'b']);
  });
});

describe('the flood gate', () => {
  it('never admits more than burst and rate allow', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2_000 }), { maxLength: 300 }), (gaps) => {
        const gate = new FloodGate({ burst: 5, perSecond: 10 }, 0);
        let now = 0;
        let admitted = 0;
        for (const gap of gaps) {
          now += gap;
          if (gate.admit(now)) admitted += 1;
        }
        expect(admitted).toBeLessThanOrEqual(5 + (now / 1000) * 10 + 1e-6);
      }),
    );
  });

  it('admits a steady stream below its rate for ever', () => {
    const gate = new FloodGate({ burst: 1, perSecond: 10 }, 0);
    for (let now = 100; now < 100_000; now += 100) expect(gate.admit(now)).toBe(true);
  });
});

describe('the fate of a call', () => {
  const network = (code: string): Error =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  it.each<[unknown, string]>([
    [new McpConnectionError('NOT_SENT', 'x'), 'not-sent'],
    [new McpConnectionError('CONNECTION_LOST', 'x'), 'lost'],
    [new SdkError(SdkErrorCode.NotConnected, 'x'), 'not-sent'],
    [new SdkError(SdkErrorCode.ConnectionClosed, 'x'), 'lost'],
    [new SdkError(SdkErrorCode.RequestTimeout, 'x'), 'timeout'],
    [new SdkError(SdkErrorCode.InvalidResult, 'x'), 'answered'],
    [new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 404 }), 'not-sent'],
    [new SdkHttpError(SdkErrorCode.ClientHttpAuthentication, 'x', { status: 401 }), 'sign-in'],
    [new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 502 }), 'lost'],
    [new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 400 }), 'answered'],
    [network('ECONNREFUSED'), 'not-sent'],
    [network('ENOTFOUND'), 'not-sent'],
    [network('ECONNRESET'), 'lost'],
    [network('UND_ERR_SOCKET'), 'lost'],
    [new TypeError('fetch failed'), 'lost'],
    [new TypeError('x is not a function'), 'answered'],
    [Object.assign(new Error('no'), { code: -32000 }), 'answered'],
    ['a string', 'answered'],
  ])('after %s is %s', (error, fate) => {
    expect(callFate(error)).toBe(fate);
  });
});

describe('the clock of a call', () => {
  function aClock() {
    const timers: { callback: () => void; delayMs: number; live: boolean }[] = [];
    const expired: string[] = [];
    const clock = new CallClock({
      silenceMs: 10,
      totalMs: 100,
      onExpired: (bound) => expired.push(bound),
      setTimer: (callback, delayMs) => {
        const timer = { callback, delayMs, live: true };
        timers.push(timer);
        return () => {
          timer.live = false;
        };
      },
    });
    const running = (): number[] => timers.filter(({ live }) => live).map(({ delayMs }) => delayMs);
    return { clock, expired, running, timers };
  }

  it('does not count silence while a person is asked, also when asked twice at once', () => {
    const { clock, running } = aClock();
    const [first, second] = [clock.suspend(), clock.suspend()];
    clock.touch();
    expect(running()).toEqual([100]);
    first();
    expect(running()).toEqual([100]);
    second();
    expect(running().sort()).toEqual([10, 100]);
    clock.stop();
    expect(running()).toEqual([]);
  });

  it('expires once', () => {
    const { expired, timers } = aClock();
    for (const timer of timers) if (timer.live) timer.callback();
    expect(expired).toEqual(['total']);
  });
});

describe('a command on Windows', () => {
  const env = { Path: 'C:\\node;C:\\bin', PATHEXT: '.COM;.EXE;.BAT;.CMD', ComSpec: 'C:\\Windows\\cmd.exe' };
  const on = (files: string[], command: string, args: string[]) =>
    spawnCommand(command, args, { platform: 'win32', env, exists: (path) => files.includes(path) });

  it('that is a batch file, as npx is, goes through the interpreter with its arguments escaped', () => {
    expect(on(['C:\\node\\npx.cmd'], 'npx', ['-y', 'a b', 'x & del *', '"q"'])).toEqual({
      command: 'C:\\Windows\\cmd.exe',
      args: [
        '/d',
        '/s',
        '/c',
        '"C:\\node\\npx.cmd ^^^"-y^^^" ^^^"a^^^ b^^^" ^^^"x^^^ ^^^&^^^ del^^^ ^^^*^^^" ^^^"\\^^^"q\\^^^"^^^""',
      ],
      windowsVerbatimArguments: true,
    });
  });

  it('that is a program is started as it is', () => {
    expect(on(['C:\\bin\\node.exe'], 'node', ['a b'])).toEqual({ command: 'C:\\bin\\node.exe', args: ['a b'] });
  });

  it('elsewhere is left alone', () => {
    expect(spawnCommand('npx', ['-y'], { platform: 'linux' })).toEqual({ command: 'npx', args: ['-y'] });
  });
});

describe('secrets', () => {
  it('are taken out of text, the token of a Bearer header too, short values left', () => {
    const redact = redactorOf(['Bearer abcdef123456', 'true', '8080', 'abcdef']);
    expect(redact('Authorization: Bearer abcdef123456; token abcdef123456; true 8080; abcdef')).toBe(
      'Authorization: [secret]; token [secret]; true 8080; [secret]',
    );
  });

  it('leave nothing of themselves', () => {
    const secret = fc.string({ minLength: 6 }).filter((text) => !'[secret]'.includes(text) && text.trim() === text);
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), fc.string(), (secrets, text) => {
        const redacted = redactorOf(secrets)(`${text}${secrets.join(' and ')}${text}`);
        for (const each of secrets) expect(redacted.split('[secret]').join('')).not.toContain(each);
      }),
    );
  });
});

describe('the name of a direct tool', () => {
  it('is one that every host accepts, and different for different tools', () => {
    const names = fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(names, names, (a, b) => {
        expect(exposedName(...a)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        fc.pre(a.join('/') !== b.join('/') && a.join('__') !== b.join('__'));
        expect(exposedName(...a)).not.toBe(exposedName(...b));
      }),
    );
  });

  it.each([
    ['files', 'read', 'files__read'],
    ['my server', 'read:all', /^my_server__read_all_[0-9a-f]{8}$/],
  ])('%s/%s is plain where it can be', (server, tool, name) => {
    expect(exposedName(server, tool)).toMatch(name);
  });
});

describe('what a host can be asked', () => {
  it.each([
    [{}, 'elicitation/create', {}, false],
    [{ elicitation: {} }, 'elicitation/create', {}, true],
    [{ elicitation: {} }, 'elicitation/create', { mode: 'url' }, false],
    [{ elicitation: { url: {} } }, 'elicitation/create', { mode: 'url' }, true],
    [{ elicitation: { url: {} } }, 'elicitation/create', { mode: 'form' }, false],
    [{ sampling: {} }, 'sampling/createMessage', {}, true],
    [{ sampling: {} }, 'roots/list', {}, false],
  ] as const)('%j, %s %j: %s', (capabilities, method, params, can) => {
    expect(hostCan(capabilities, method, params)).toBe(can);
  });
});

describe('a modern upstream', () => {
  const options = { serverName: 's', toolName: 't', ask: async () => ({}), delay: async () => undefined };
  const asking = { resultType: 'input_required' as const, inputRequests: { a: { method: 'roots/list' } } };

  it('that asks without an end is cut off', async () => {
    await expect(answerInputs(asking, { ...options, retry: async () => asking })).rejects.toThrow(
      '10 times without an end',
    );
  });

  it('that asks for something unknown is refused', async () => {
    const strange = { ...asking, inputRequests: { a: { method: 'shell/exec' } } };
    await expect(answerInputs(strange, { ...options, retry: async () => ({}) })).rejects.toMatchObject({
      code: 'UPSTREAM_INPUT_REFUSED',
    });
  });

  it('gets its state back as it was', async () => {
    const seen: unknown[] = [];
    await answerInputs(
      { ...asking, requestState: 'opaque' },
      {
        ...options,
        retry: async (added) => {
          seen.push(added);
          return { content: [] };
        },
      },
    );
    expect(seen).toEqual([{ inputResponses: { a: {} }, requestState: 'opaque' }]);
  });
});

describe('a result for a host', () => {
  it('is always one that its SDK accepts, whatever the upstream sent', () => {
    fc.assert(
      fc.property(fc.anything(), fc.constantFrom('legacy' as const, 'modern' as const), (value, era) => {
        const { content } = fitResult(value, era);
        expect(Array.isArray(content)).toBe(true);
        for (const block of content) expect(typeof block.type).toBe('string');
      }),
    );
  });
});
