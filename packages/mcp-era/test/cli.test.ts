import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startHostileHttp } from '@mcp-interlock/test-kit/era-hostile-http';
import { hostileStdio } from '@mcp-interlock/test-kit/era-hostile-stdio';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseArgs, USAGE } from '../src/cli/args.js';
import { parseServersConfig } from '../src/cli/config.js';
import { main } from '../src/cli/main.js';
import { parseRecorded } from '../src/cli/recorded.js';
import { DISCOVER, refusal, result } from './answers.js';
import { gone } from './processes.js';
import { startServer, stdioFixture } from './servers.js';

let dir = '';
const open: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'era-cli-'));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await rm(dir, { recursive: true, force: true });
});
async function opened<S extends { close(): Promise<unknown> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  open.push(server);
  return server;
}

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  argv: string[],
  { input = '', isTerminal = false }: { input?: string; isTerminal?: boolean } = {},
): Promise<Run> {
  let [out, err, time] = ['', '', 0];
  const code = await main(argv, {
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
    isTerminal,
    readInput: async () => input,
    version: '1.2.3',
    // Each look at the clock is a millisecond.
    now: () => ++time,
  });
  return { code, out, err };
}

describe('one server', () => {
  test('of the modern era: era, versions, server, capabilities, latency and reason', async () => {
    const { url } = await opened(startServer('v2-dual'));
    const { code, out } = await run([url]);
    expect(code).toBe(0);
    expect(out).toContain(`${url}: modern\n`);
    for (const line of [
      'versions: 2026-07-28',
      'server: v2 2.0.0',
      'capabilities: tools',
      'reason: a modern version in common',
    ]) {
      expect(out).toContain(line);
    }
    expect(out).toMatch(/latency: \d+ ms/);
    expect(out).toMatch(/see: https:\/\/modelcontextprotocol.io\/specification\/2026-07-28\/server\/discover/);
  });

  test('of the legacy era: what its handshake says, and its session is ended', async () => {
    const server = await opened(startServer('v1-stateful'));
    const { code, out } = await run([server.url, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      target: server.url,
      era: 'legacy',
      versions: ['2025-11-25'],
      server: { name: 'v1', version: '1.0.0' },
      capabilities: ['tools'],
      latencyMs: expect.any(Number),
      evidence: { rule: '400, 404 or 405 without a modern error', received: 'HTTP 400' },
    });
    expect(server.requests.map(({ http }) => http)).toEqual(['POST', 'POST', 'DELETE']);
  });

  test.each([
    ['v1-stdio', 'legacy'],
    ['v2-stdio', 'modern'],
  ] as const)('over stdio: %s is %s', async (name, era) => {
    const { command, args } = stdioFixture(name);
    const { code, out } = await run(['--json', '--timeout', '60000', '--', command, ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ era, server: { name }, capabilities: ['tools'] });
  });

  test('that exits on the question is started afresh', async () => {
    const { command, args } = hostileStdio('single-instance', join(dir, 'lock'));
    const { code, out } = await run(['--json', '--timeout', '60000', '--', command, ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ era: 'legacy', server: { name: 'hostile-single-instance' } });
  });

  test('of the older transport needs no question', async () => {
    const server = await opened(startServer('v1-sse'));
    const { code, out } = await run([server.url, '--sse', '--json']);
    expect([code, JSON.parse(out).era, server.requests.length]).toEqual([0, 'legacy', 0]);
  });

  test('that was asked before is answered from the cache file', async () => {
    const { url } = await opened(startServer('v2-dual'));
    const cache = join(dir, 'era.json');
    await run([url, '--cache', cache]);
    const { out } = await run([url, '--cache', cache]);
    expect(out).toContain('modern (from the cache)');
    expect(out).toContain('server: v2 2.0.0');
    expect(JSON.parse(await readFile(cache, 'utf8'))).toBeTypeOf('object');
  });
});

describe('exit codes', () => {
  test.each([
    [401, 4],
    [403, 4],
    [503, 5],
    [302, 6],
    [204, 7],
  ])('HTTP %d is %d', async (status, code) => {
    const headers = { 'www-authenticate': 'Bearer realm="x"', location: 'https://b.example/', 'retry-after': '9' };
    const { url } = await opened(startServer((_request, response) => void response.writeHead(status, headers).end()));
    const said = await run([url]);
    expect(said.code).toBe(code);
    expect(said.out).toContain('undetermined');
    if (code === 4) expect(said.out).toContain('sign-in: Bearer realm="x"');
    if (code === 5) expect(said.out).toContain('try again: in 9 s');
    if (code === 6) expect(said.out).toContain('location: https://b.example/');
  });

  test('no version in common is 8, nobody there is 5', async () => {
    const body = refusal(-32022, 'no', { supported: ['2030-01-01'] });
    const server = await startServer((_request, response) => void response.writeHead(400).end(body));
    const said = await run([server.url]);
    expect(said.code).toBe(8);
    await server.close();
    expect((await run([server.url])).code).toBe(5);
  });

  test('another era than expected is 3', async () => {
    const { url } = await opened(startServer('v2-dual'));
    expect((await run([url, '--expect', 'modern'])).code).toBe(0);
    expect((await run([url, '--expect', 'legacy'])).code).toBe(3);
  });

  test('what is no address is 1, and is named', async () => {
    const { code, out } = await run(['http://']);
    expect([code, out.includes('url is no http(s) URL')]).toEqual([1, true]);
  });

  test.each([
    [[]],
    [['--header', 'no colon', 'http://a.example']],
    [['--header']],
    [['--timeout', 'soon', 'http://a.example']],
    [['--expect', 'ancient', 'http://a.example']],
    [['--nonsense', 'http://a.example']],
    [['http://a.example', 'http://b.example']],
    [['http://a.example', '--', 'x']],
    [['--']],
    [['--all']],
    [['explain', 'a', 'b']],
  ])('%j is wrong usage: 2, with the usage', async (argv) => {
    const { code, err } = await run(argv);
    expect(code).toBe(2);
    expect(err).toContain('Usage:');
  });

  test('help and version are 0', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, out: USAGE });
    expect(await run(['--version'])).toMatchObject({ code: 0, out: '1.2.3\n' });
  });
});

describe('secrets are never printed', () => {
  const SECRET = 'hunter2-hunter2';
  const everythingOf = ({ out, err }: Run): string => out + err;

  test('neither headers nor what an address carries', async () => {
    const server = await opened(startServer('v1-stateful'));
    for (const mode of [[], ['--json']]) {
      const said = await run([`${server.url}?token=${SECRET}`, '--header', `Authorization: Bearer ${SECRET}`, ...mode]);
      expect(said.code).toBe(0);
      expect(everythingOf(said)).not.toContain(SECRET);
    }
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  test('neither variables nor arguments that look like secrets, though the server repeats them', async () => {
    const program = `process.stderr.write('bad key ' + process.env.API_KEY); process.exit(1)`;
    for (const args of [['--api-key', 'shown-nowhere'], ['--api-key=shown-nowhere']]) {
      const said = await run(['--env', `API_KEY=${SECRET}`, '--', process.execPath, '-e', program, '--', ...args]);
      expect(said.code).toBe(1);
      expect(everythingOf(said)).toContain('bad key ***');
      expect(everythingOf(said)).not.toMatch(/hunter2|shown-nowhere/);
    }
  });

  test.each<[string, string[]]>([
    ['the password of a database', ['postgresql://admin:hunter2-hunter2@db.internal/app']],
    ['a header that is passed on', ['--header', 'Authorization: Bearer hunter2-hunter2']],
    ['a header in one word', ['--header=X-Thing: hunter2-hunter2']],
    ['a variable of a container', ['-e', 'GITHUB_PAT=hunter2-hunter2']],
    ['the query of an address', ['https://a.example/mcp?k=hunter2-hunter2&x=1']],
    ['a token by its looks', ['figma', 'hunter2hunter2hunter2abc9']],
    ['a token in a path', ['https://a.example/s/hunter2hunter2hunter2abc9/mcp']],
  ])('%s among the arguments is not shown, though the server repeats it', async (_what, args) => {
    const program = `
      const words = process.argv.slice(1).join(' ').split(/[\\s/:@=&?]+/);
      process.stderr.write('bad ' + words.filter((word) => /hunter\\d/.test(word)).join(' '));
      process.exit(1)`;
    for (const mode of [[], ['--json']]) {
      const said = await run([...mode, '--', process.execPath, '-e', program, '--', ...args]);
      expect(said.code).toBe(1);
      expect(said.out).toContain('bad ***');
      expect(everythingOf(said)).not.toContain('hunter2');
    }
  });

  test('what tells one server from another is shown', async () => {
    const args = ['-y', '@modelcontextprotocol/server-sequential-thinking@2025.7.1', '--port=3000', '/home/me/work'];
    const said = await run(['--', 'no-such-command-anywhere', ...args]);
    expect(said.out).toContain(`no-such-command-anywhere ${args.join(' ')}: undetermined`);
  });

  test('neither by a server that redirects with the query of the address', async () => {
    const server = await opened(
      startServer((request, response) => {
        const query = new URL(request.url ?? '', 'http://x').search;
        response.writeHead(302, { location: `https://b.example/login${query}&next=1` }).end();
      }),
    );
    const said = await run([`${server.url}?token=${SECRET}`]);
    expect(said.code).toBe(6);
    expect(said.out).toContain('location: https://b.example/login?***');
    expect(everythingOf(said)).not.toContain(SECRET);
  });

  test('and the words of the report stay, whatever a variable is called', async () => {
    const { command, args } = stdioFixture('v2-stdio');
    const said = await run([
      '--env',
      'MODE=modern',
      '--env',
      'WHAT=discover',
      '--expect',
      'modern',
      '--',
      command,
      ...args,
    ]);
    expect(said.code).toBe(0);
    expect(said.out).toContain('reason: a modern version in common');
    expect(said.out).toContain('server/discover');
  });

  test('nor to where the end of a session is redirected', async () => {
    const elsewhere = await opened(startServer((_request, response) => void response.writeHead(200).end()));
    const inner = await opened(startServer('v1-stateful'));
    const server = await opened(
      startServer(async (request, response, body) => {
        if (request.method === 'DELETE') return void response.writeHead(307, { location: elsewhere.url }).end();
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const answer = await fetch(inner.url, { method: 'POST', headers, body: JSON.stringify(body) });
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      }),
    );
    expect((await run([server.url, '--header', `X-Api-Key: ${SECRET}`])).code).toBe(0);
    expect(server.requests.at(-1)?.http).toBe('DELETE');
    expect(elsewhere.requests).toEqual([]);
  });

  test('nor by wrong usage', async () => {
    expect(everythingOf(await run(['--header', `x${SECRET}`]))).not.toContain(SECRET);
    expect(everythingOf(await run([`--token=${SECRET}`]))).not.toContain(SECRET);
    expect(everythingOf(await run([`https://u:${SECRET}@a.example/`]))).not.toContain(SECRET);
  });
});

describe('what a newcomer runs into', () => {
  test('a server that is slow to start is judged by its answer, not by its silence', async () => {
    const { command, args } = hostileStdio('late');
    const { code, out } = await run(['--timeout', '1000', '--json', '--', command, ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ era: 'modern', evidence: { rule: 'a modern version in common' } });
  });

  test('a path that is not there is no legacy server to build on', async () => {
    const server = await opened(startServer((_request, response) => void response.writeHead(404).end('Not Found')));
    const { code, out } = await run([server.url, '--expect', 'legacy']);
    expect(code).toBe(1);
    expect(out).toContain('handshake: failed: HTTP 404');
  });

  test('a server that never lets its session end does not keep the command', async () => {
    const inner = await opened(startServer('v1-stateful'));
    const server = await opened(
      startServer(async (request, response, body) => {
        if (request.method === 'DELETE') return;
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const answer = await fetch(inner.url, { method: 'POST', headers, body: JSON.stringify(body) });
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      }),
    );
    expect(await run([server.url, '--timeout', '1500'])).toMatchObject({ code: 0 });
  });

  test('no version in common: both lists are shown', async () => {
    const server = await opened(
      startServer((_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(refusal(-32022, 'no', { supported: ['2030-01-01'] }));
      }),
    );
    const { code, out } = await run([server.url]);
    expect(code).toBe(8);
    expect(out).toContain('offers: 2030-01-01\n');
    expect(out).toContain('we speak: 2026-07-28, 2025-11-25');
  });

  test('a cache that cannot be used is said so, once, and the answer is given all the same', async () => {
    const { url } = await opened(startServer('v2-dual'));
    const { code, err } = await run([url, '--cache', dir]);
    expect(code).toBe(0);
    expect(err.match(/is no use as a cache/g)).toHaveLength(1);
    await writeFile(join(dir, 'corrupt.json'), '{');
    expect((await run([url, '--cache', join(dir, 'corrupt.json')])).err).toMatch(/corrupt.json is no use as a cache/);
    expect(await run([url, '--cache', join(dir, 'corrupt.json')])).toMatchObject({ code: 0, err: '' });
  });

  test('an address without its scheme is wrong usage, and options take their value after = too', async () => {
    expect(await run(['localhost:3000/mcp'])).toMatchObject({ code: 2, err: expect.stringContaining('http://') });
    expect(parseArgs(['https://a.example', '--timeout=5', '--header=X-A: b=c'])).toMatchObject({
      options: { timeoutMs: 5, headers: { 'X-A': 'b=c' } },
    });
  });

  test('the names in a config cannot steer the terminal that shows the progress', async () => {
    const { url } = await opened(startServer('v2-dual'));
    const config = join(dir, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { 'a\u001b[2Jb': { url } } }));
    const { err } = await run(['--all', config], { isTerminal: true });
    expect(err).toContain('waiting for a [2Jb');
    expect(err).not.toContain('a\u001b');
  });
});

describe('every server of a config', () => {
  test('is asked, side by side, with a line of progress, and a table in the end', async () => {
    const [modern, legacy, silent] = [
      await opened(startServer('v2-modern')),
      await opened(startServer('v1-stateless')),
      await opened(startHostileHttp('reset')),
    ];
    const config = join(dir, 'mcp.json');
    const mcpServers = {
      modern: { url: modern.url, headers: { 'x-key': 'hunter2-hunter2' } },
      legacy: { url: legacy.url, type: 'http' },
      away: { url: silent.url },
      local: stdioFixture('v1-stdio'),
      broken: { command: 7 },
    };
    await writeFile(config, JSON.stringify({ mcpServers }));
    const { code, out, err } = await run(['--all', config, '--timeout', '60000'], { isTerminal: true });
    expect(code).toBe(5);
    const eras = Object.fromEntries(
      out
        .trim()
        .split('\n')
        .map((line) => line.split(/\s{2,}/).slice(0, 2)),
    );
    expect(eras).toEqual({
      NAME: 'ERA',
      modern: 'modern',
      legacy: 'legacy',
      away: 'undetermined',
      local: 'legacy',
      broken: 'undetermined',
    });
    expect(out).toContain('mcpServers.broken has neither command nor url');
    expect(err).toContain('0/5 answered, waiting for modern, legacy, away, local, broken');
    expect(err.endsWith('\r\u001b[2K')).toBe(true);
    expect(out + err).not.toContain('hunter2');
  });

  test('without a terminal there is no progress, and JSON is JSON', async () => {
    const { url } = await opened(startServer('v2-modern'));
    const config = join(dir, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { one: { url } } }));
    const { code, out, err } = await run(['--all', config, '--json']);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject([{ name: 'one', era: 'modern' }]);
  });

  test('a config that is none is said so', async () => {
    const config = join(dir, 'mcp.json');
    for (const [text, says] of [
      ['{', 'no JSON'],
      ['[]', '"mcpServers"'],
      ['{"mcpServers":[]}', '"mcpServers"'],
    ] as const) {
      await writeFile(config, text);
      const { code, err } = await run(['--all', config]);
      expect([code, err.includes(says)]).toEqual([1, true]);
    }
    expect((await run(['--all', join(dir, 'missing.json')])).err).toContain('missing.json');
  });

  test('every wrong entry is named, and none makes it throw', () => {
    const entries = {
      a: 7,
      b: { command: 'x', args: 7 },
      c: { command: 'x', env: { k: 7 } },
      d: { command: 'x', cwd: 7 },
      e: { url: 'ftp://x' },
      f: { url: 'https://x', headers: [] },
      g: {},
    };
    const problems = parseServersConfig(JSON.stringify({ mcpServers: entries })).map(
      (server) => 'problem' in server && server.problem,
    );
    expect(problems).toEqual([
      'mcpServers.a is no object',
      'mcpServers.b.args is no list of strings',
      'mcpServers.c.env is no object of strings',
      'mcpServers.d.cwd is no string',
      'mcpServers.e.url is no http(s) URL',
      'mcpServers.f.headers is no object of strings',
      'mcpServers.g has neither command nor url',
    ]);
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        (mcpServers) => void parseServersConfig(JSON.stringify({ mcpServers })),
      ),
    );
  });
});

test('what a server says of itself cannot steer the terminal', async () => {
  const name = '\u001b[2J\u001b]0;owned\u0007weather\r\nera: modern';
  const _meta = { 'io.modelcontextprotocol/serverInfo': { name, version: '\u202e1.0' } };
  const server = await opened(
    startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 'interlock-era-probe', result: { ...DISCOVER, _meta } }));
    }),
  );
  const { out } = await run([server.url]);
  expect(out).toContain('weather  era: modern');
  const config = join(dir, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: { one: { url: server.url } } }));
  for (const text of [out, (await run(['--all', config])).out]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u202e]/);
  }
});

describe('explain', () => {
  const raw = (head: string, body: string): string => `${head}\r\nContent-Type: application/json\r\n\r\n${body}`;

  test.each([
    ['a raw response', raw('HTTP/1.1 404 Not Found', refusal(-32601)), [], 'modern 2026-07-28', 0],
    ['a raw HTTP/2 response', raw('HTTP/2 200', result(DISCOVER)), [], 'modern 2026-07-28', 0],
    [
      'a raw event stream',
      `HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\ndata: ${result(DISCOVER)}\n\n`,
      [],
      'modern 2026-07-28',
      0,
    ],
    [
      'a head without a body',
      'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\r\n',
      [],
      'undetermined: sign-in-needed',
      4,
    ],
    ['status and body as JSON', JSON.stringify({ status: 503 }), [], 'undetermined: unavailable', 5],
    [
      'status and body as nested JSON',
      JSON.stringify({ status: 400, headers: {}, body: JSON.parse(refusal(-32020)) }),
      [],
      'modern 2026-07-28',
      0,
    ],
    [
      'the output of curl -i through a proxy',
      `HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${raw('HTTP/1.1 404 Not Found', refusal(-32601))}`,
      [],
      'modern 2026-07-28',
      0,
    ],
    ['a status line alone', 'HTTP/1.1 503 Service Unavailable', [], 'undetermined: unavailable', 5],
    ['a message over stdio', refusal(-32601), ['--stdio'], 'legacy 2025-11-25', 0],
    ['nothing, over stdio', '', ['--stdio'], 'legacy 2025-11-25', 0],
    ['nothing, over HTTP', '', [], 'undetermined: unavailable', 5],
    ['a message, expected to be of another era', result(DISCOVER), ['--expect', 'legacy'], 'modern 2026-07-28', 3],
    [
      'an offer of another version',
      refusal(-32022, 'no', { supported: ['2026-07-28'] }),
      ['--expect', 'modern'],
      'retry 2026-07-28',
      0,
    ],
  ])('%s', async (_name, input, options, says, code) => {
    const said = await run(['explain', ...options], { input });
    expect(said.out.split('\n')[0]).toBe(says);
    expect(said.code).toBe(code);
  });

  test('a file, as JSON, with the whole evidence', async () => {
    await writeFile(join(dir, 'answer.txt'), raw('HTTP/1.1 400 Bad Request', refusal(-32000)));
    const { code, out } = await run(['explain', join(dir, 'answer.txt'), '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      kind: 'legacy',
      evidence: { rule: '400, 404 or 405 without a modern error', received: 'HTTP 400' },
    });
  });

  test('what is no answer is said so', async () => {
    for (const input of ['hello', '{}', '[]', '7']) expect((await run(['explain'], { input })).code).toBe(1);
    expect((await run(['explain', join(dir, 'missing')])).err).toContain('missing');
  });

  test('no text does anything but read or refuse', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((text) => `HTTP/1.1 200 OK\n${text}`),
        ),
        (text) => {
          try {
            parseRecorded(text, false);
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError);
          }
        },
      ),
    );
  });
});

test('no argument does anything but read or refuse', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('--header', '--env', '--all', '--json', '--', '--timeout', 'explain', 'https://a.example'),
  );
  fc.assert(fc.property(fc.array(word, { maxLength: 8 }), (argv) => void expect(parseArgs(argv)).toHaveProperty('do')));
});

test('the bin runs, and reads stdin', async () => {
  const bin = fileURLToPath(new URL('../bin/mcp-era.js', import.meta.url));
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect((await promisify(execFile)(process.execPath, [bin, '--version'])).stdout).toBe(`${version}\n`);
  const running = promisify(execFile)(process.execPath, [bin, 'explain']);
  running.child.stdin?.end(result(DISCOVER));
  expect((await running).stdout).toContain('modern 2026-07-28');
});

test('stopped by a signal, the command takes its server with it', async () => {
  const note = join(dir, 'child.pid');
  const { command, args } = hostileStdio('leaves-children', note);
  const bin = fileURLToPath(new URL('../bin/mcp-era.js', import.meta.url));
  const running = spawn(process.execPath, [bin, '--timeout', '60000', '--', command, ...args]);
  const ended = new Promise<number | null>((resolve) => running.once('close', resolve));
  const child = Number(await written(note));
  running.kill('SIGTERM');
  await ended;
  await gone(child);
});

test('stopped twice, it waits no longer, and still takes its server with it', async () => {
  const [note, asked] = [join(dir, 'server.pid'), join(dir, 'asked')];
  const program = `
    const { writeFileSync } = require('node:fs');
    process.on('SIGTERM', () => {});
    process.stdin.on('end', () => writeFileSync(${JSON.stringify(asked)}, 'to end')).resume();
    setInterval(() => {}, 1000);
    writeFileSync(${JSON.stringify(note)}, String(process.pid));`;
  const bin = fileURLToPath(new URL('../bin/mcp-era.js', import.meta.url));
  const running = spawn(process.execPath, [bin, '--timeout', '60000', '--', process.execPath, '-e', program]);
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    running.once('close', (_code, signal) => resolve(signal)),
  );
  const server = Number(await written(note));
  running.kill('SIGINT');
  await written(asked);
  running.kill('SIGINT');
  expect(await ended).toBeNull();
  await gone(server);
});

/** The text of a file, once there is any. */
async function written(path: string): Promise<string> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text) return text;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
