// biome-ignore-all lint/suspicious/noTemplateCurlyInString: such placeholders in plain strings are what is tested
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig, readConfigFile, readConfigFiles, specsOf } from '../../src/node/index.js';
import { parseJsonc } from '../../src/node/jsonc.js';
import { aFolder } from '../fixtures/scripted.js';

const variables = { TOKEN: 'abc123', EMPTY: '', HOME: '/home/ada' };
const endpointOf = (entry: unknown): unknown =>
  parseConfig({ mcpServers: { a: entry } }, { variables }).servers.get('a')?.endpoint;
const problemOf = (entry: unknown): string =>
  parseConfig({ mcpServers: { a: entry } }, { source: 'mcp.json', variables }).problems[0]?.error.message ??
  'no problem';

describe('the common configuration', () => {
  it('is read as hosts write it', () => {
    expect(endpointOf({ command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, cwd: '/srv' })).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'server'],
      env: { A: 'b' },
      cwd: '/srv',
    });
    expect(endpointOf({ url: 'https://a.example/mcp', headers: { A: 'b' } })).toEqual({
      type: 'auto',
      url: 'https://a.example/mcp',
      headers: { A: 'b' },
    });
  });

  it.each([
    [{ type: 'http', url: 'https://a.example/mcp' }, 'http'],
    [{ type: 'streamable-http', url: 'https://a.example/mcp' }, 'http'],
    [{ type: 'streamableHttp', url: 'https://a.example/mcp' }, 'http'],
    [{ type: 'sse', url: 'https://a.example/sse' }, 'sse'],
    [{ transport: 'sse', url: 'https://a.example/sse' }, 'sse'],
    [{ serverUrl: 'https://a.example/mcp' }, 'auto'],
    [{ httpUrl: 'https://a.example/mcp' }, 'http'],
    [{ type: 'remote', url: 'https://a.example/mcp' }, 'auto'],
    [{ type: 'stdio', command: 'x', url: 'https://unused.example/' }, 'stdio'],
    [{ type: 'local', command: ['x', '--flag'] }, 'stdio'],
  ])('knows the variant %j', (entry, type) => {
    expect(endpointOf(entry)).toMatchObject({ type });
  });

  it.each(['mcpServers', 'servers', 'context_servers', 'mcp_servers'])('finds the servers under "%s"', (key) => {
    expect([...parseConfig({ [key]: { a: { command: 'x' } } }).servers.keys()]).toEqual(['a']);
  });

  it('finds the servers of an editor that keeps them among its settings', () => {
    expect([...parseConfig({ 'editor.tabSize': 2, mcp: { servers: { a: { command: 'x' } } } }).servers.keys()]).toEqual(
      ['a'],
    );
  });

  it('takes numbers and booleans in env by their text', () => {
    expect(endpointOf({ command: 'x', env: { PORT: 8080, DEBUG: true } })).toMatchObject({
      env: { PORT: '8080', DEBUG: 'true' },
    });
  });

  it('knows disabled servers in both spellings, and does not want their variables', () => {
    const { servers, problems } = parseConfig({
      mcpServers: {
        a: { command: 'x', disabled: true, env: { A: '${NOT_SET_AT_ALL}' } },
        b: { url: 'https://b.example', enabled: false, oauth: { clientSecret: '${NOT_SET_AT_ALL}' } },
        c: { command: 'x' },
      },
    });
    expect(problems).toEqual([]);
    expect([...servers.values()].map(({ disabled }) => disabled)).toEqual([true, true, false]);
    expect(specsOf(servers).map(({ serverName }) => serverName)).toEqual(['c']);
  });

  it('leaves fields alone that belong to other hosts', () => {
    expect(problemOf({ command: 'x', autoApprove: ['a'], alwaysAllow: [], gallery: true, allowedRoots: [] })).toBe(
      'no problem',
    );
  });

  it.each([
    [{ allowedTools: ['a'] }, ['a'], []],
    [{ allowed_tools: ['a'] }, ['a'], []],
    [{ enabled_tools: ['a'], disabled_tools: ['b'] }, ['a'], ['b']],
    [{ enabledTools: [], blockedTools: ['b'] }, [], ['b']],
    [{ blocked_tools: ['b'] }, undefined, ['b']],
    [{ includeTools: ['a'], excludeTools: ['b'] }, ['a'], ['b']],
    [{ tools: ['a'] }, ['a'], []],
    [{ tools: [] }, [], []],
    [{ tools: ['*'] }, undefined, []],
    [{ tools: { a: { approval_mode: 'prompt' } } }, undefined, []],
  ])('knows the lists of tools as other hosts write them: %j', (lists, allowedTools, blockedTools) => {
    const config = parseConfig({ mcpServers: { a: { command: 'x', ...lists } } }).servers.get('a');
    expect([config?.allowedTools, config?.blockedTools]).toEqual([allowedTools, blockedTools]);
  });

  it.each([
    'allowedTool',
    'allowTools',
    'alowedTools',
    'AllowedTools',
    'blockedTool',
    'disabled-tools',
    'enableTools',
    'excludedTools',
  ])('takes "%s" for the slip that it is: it would leave every tool open', (key) => {
    expect(problemOf({ command: 'x', [key]: ['a'] })).toMatch(`"${key}" is not known: did you mean "`);
  });

  it('gives limits and tool lists to the proxy', () => {
    const entry = {
      command: 'x',
      allowedTools: ['a'],
      disabledTools: ['b'],
      idempotentTools: ['a'],
      connectTimeoutMs: 5,
    };
    expect(specsOf(parseConfig({ mcpServers: { s: entry } }).servers)).toEqual([
      {
        serverName: 's',
        resourceIds: [],
        allowedTools: ['a'],
        blockedTools: ['b'],
        idempotentTools: ['a'],
        connectTimeoutMs: 5,
      },
    ]);
  });
});

describe('a wrong configuration', () => {
  it.each([
    [{}, 'mcp.json: server "a": needs "command" (a local server) or "url" (a remote one).'],
    [{ comand: 'x', args: [] }, '(a remote one); "comand" is not known: did you mean "command"?'],
    [{ Command: 'x' }, '"Command" is not known: did you mean "command"?'],
    [{ server_url: 'https://a.example' }, '"server_url" is not known: did you mean "serverUrl"?'],
    [{ ulr: 'https://a.example' }, '"ulr" is not known: did you mean "url"?'],
    [{ type: 'stdio', cmmand: 'x' }, 'type "stdio" needs "command"; "cmmand" is not known: did you mean "command"?'],
    [
      { gallery: true, alwaysAllow: [] },
      'mcp.json: server "a": needs "command" (a local server) or "url" (a remote one).',
    ],
    [{ command: 'x', url: 'https://a.example' }, 'has both "command" and "url"'],
    [
      { type: 'carrier-pigeon', url: 'https://a.example' },
      'type "carrier-pigeon" is not known; use "stdio", "http" or "sse"',
    ],
    [{ type: 'stdio' }, 'type "stdio" needs "command"'],
    [{ url: 'ftp://a.example' }, 'url must start with http:// or https://, got ftp:'],
    [{ url: 'not a url?key=SECRET' }, 'url "not a url" is not a URL'],
    [{ command: 'x', args: 'y' }, 'args: '],
    [{ command: 'x', args: [1] }, 'args.0: '],
    [{ command: 'x', env: { A: {} } }, 'env.A: expected text.'],
    [{ command: { path: 'x' } }, 'command: expected text, or a list of texts.'],
    [{ command: 'x', connectTimeoutMs: -1 }, 'connectTimeoutMs: '],
    // A timer of more than 24.8 days would fire at once.
    [{ command: 'x', callTimeoutMs: 2 ** 31 }, 'callTimeoutMs: '],
    [{ command: 'x', idleTimeoutMs: 9e12 }, 'idleTimeoutMs: '],
    [{ command: 'x', lifecycle: 'sometimes' }, 'lifecycle: '],
    ['text', 'the entry: '],
  ])('%j is told with file, server and field', (entry, message) => {
    const problem = problemOf(entry);
    expect(problem).toContain('mcp.json: server "a": ');
    expect(problem).toContain(message);
    expect(problem).not.toContain('SECRET');
  });

  it('takes no other server with it', () => {
    const { servers, problems } = parseConfig({ mcpServers: { good: { command: 'x' }, bad: {} } });
    expect([...servers.keys()]).toEqual(['good']);
    expect(problems.map(({ serverName }) => serverName)).toEqual(['bad']);
  });

  it.each([[null], [[]], ['text'], [{}], [{ mcpServers: [] }]])(
    '%j as a whole is an error that shows the right shape',
    (data) => {
      expect(() => parseConfig(data)).toThrow(ConfigError);
    },
  );

  it('of any kind throws nothing but ConfigError', () => {
    fc.assert(
      fc.property(fc.anything(), (data) => {
        try {
          parseConfig({ mcpServers: { a: data } });
          parseConfig(data);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
    );
  });
});

describe('a variable', () => {
  it.each([
    ['${TOKEN}', 'abc123'],
    ['Bearer ${TOKEN}!', 'Bearer abc123!'],
    ['${env:TOKEN}', 'abc123'],
    ['${MISSING:-fallback}', 'fallback'],
    ['${MISSING:-}', ''],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${EMPTY}', ''],
    ['$TOKEN and ${} stay', '$TOKEN and ${} stay'],
  ])('%s becomes %s, wherever it stands', (text, expanded) => {
    expect(endpointOf({ command: text || 'x', args: [text], env: { A: text } })).toMatchObject({
      command: expanded,
      args: [expanded],
      env: { A: expanded },
    });
    expect(endpointOf({ url: 'https://a.example/', headers: { A: text } })).toMatchObject({ headers: { A: expanded } });
  });

  it('that is not set is an error that names variable, field and server, and nothing is sent literally', () => {
    expect(problemOf({ url: 'https://a.example', headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' } })).toBe(
      'Server "a": headers.Authorization uses ${GITHUB_TOKEN}, which is not set. ' +
        'Set GITHUB_TOKEN in the environment, or give a default: ${GITHUB_TOKEN:-value}.',
    );
  });

  it('that only an editor can fill in is an error too, and not sent literally', () => {
    expect(problemOf({ command: 'x', env: { KEY: '${input:api-key}' } })).toContain('env.KEY uses ${input:api-key}');
  });

  it('is not found up the prototype chain', () => {
    expect(problemOf({ command: '${constructor}' })).toContain('constructor');
  });
});

describe('a configuration file', () => {
  const write = async (text: string): Promise<string> => {
    const path = join(await aFolder(), 'mcp.json');
    await writeFile(path, text);
    return path;
  };

  it('may have comments, trailing commas and a byte order mark', async () => {
    const path = await write(
      '\uFEFF{\n// one\n"mcpServers": { /* two */ "a": {"command": "x", "args": ["http://not-a-comment", "/*",],},\n},}',
    );
    expect((await readConfigFile(path)).servers.get('a')?.endpoint).toMatchObject({
      args: ['http://not-a-comment', '/*'],
    });
  });

  it.each([
    ['{"mcpServers": {"a": {"command": x}}}', 'line 1, column 34'],
    ['{\n  "mcpServers": {\n    "a": "TOKEN"\n    "b": 1\n  }\n}', 'line 4, column 5'],
    ['{"mcpServers": {', 'line 1, column 17'],
    ['', 'line 1, column 1'],
    ['{"a": 1} trailing', 'line 1, column 10'],
  ])('that is no JSON is told by the place, without its content: %j', async (text, place) => {
    const path = await write(text);
    const error = await readConfigFile(path).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'CONFIG_NOT_JSON',
      message: expect.stringContaining(`${path} is no JSON (${place})`),
    });
    expect(String(error)).not.toContain('TOKEN');
  });

  it('that is not there is named', async () => {
    await expect(readConfigFile('/nowhere/mcp.json')).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      message: expect.stringContaining('/nowhere/mcp.json'),
    });
  });

  it('that comes later wins, server by server', async () => {
    const first = await write('{"mcpServers": {"a": {"command": "one"}, "b": {"command": "two"}}}');
    const second = await write('{"mcpServers": {"a": {"command": "three"}}}');
    const { servers } = await readConfigFiles([first, second]);
    expect([...servers.values()].map(({ endpoint }) => endpoint)).toMatchObject([
      { command: 'three' },
      { command: 'two' },
    ]);
  });

  it('that is JSON is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonc(text, 'x')).toEqual(JSON.parse(text));
      }),
    );
  });

  it('that is not JSON is an error at a place inside it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseJsonc(text, 'x');
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
    );
  });
});
