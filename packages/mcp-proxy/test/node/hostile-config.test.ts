import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, parseConfig, readConfigFile, specsOf } from '../../src/node/index.js';
import { parseJsonc } from '../../src/node/jsonc.js';
import { aFolder, scripted, textOf } from '../fixtures/scripted.js';

async function aFile(content: string | Buffer): Promise<string> {
  const path = join(await aFolder(), 'mcp.json');
  await writeFile(path, content);
  return path;
}

const good = '{"mcpServers":{"a":{"command":"x"}}}';

describe('a configuration file of somebody hostile', () => {
  it.each([
    ['comments after a comma', `{"a":1,${'/**/'.repeat(200_000)}x`],
    ['a comment that never ends', `{"a":1,${'/*'.repeat(200_000)}`],
    ['quotes that never end', `{"a":"${'\\"'.repeat(200_000)}\n${'"'.repeat(200_001)}`],
    ['commas', `{"a":[1${','.repeat(200_000)}x`],
    ['open brackets', '['.repeat(200_000)],
  ])('with nothing but %s is an error with its place, at once', (_what, text) => {
    // Each of them took longer than the universe has, or is quadratic, where the file is looked at more than once.
    expect(() => parseJsonc(text, 'mcp.json')).toThrow(/mcp\.json is no JSON \(line \d+, column \d+\)/);
  });

  it('nested deeper than the stack is read, and its servers are there', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const { servers } = parseConfig(parseJsonc(`{"mcpServers":{"a":{"command":"x","other":${deep}}}}`, 'f'));
    expect([...servers.keys()]).toEqual(['a']);
  });

  it('that never ends is not read to its end', async () => {
    await expect(readConfigFile('/dev/zero')).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      message: expect.stringContaining('more than'),
    });
  });

  it('has no say over prototypes: such names are servers and variables like any other', () => {
    const entry =
      '{"command":"x","env":{"constructor":"a"},"__proto__":{"url":"https://evil.example","disabled":true}}';
    const text = `{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"y"},"a":${entry}}}`;
    const { servers, problems } = parseConfig(parseJsonc(text, 'f'));
    expect(problems).toEqual([]);
    expect([...servers.keys()]).toEqual(['__proto__', 'constructor', 'a']);
    expect(servers.get('a')).toMatchObject({ disabled: false, endpoint: { type: 'stdio', env: { constructor: 'a' } } });
    expect(Object.keys({})).toEqual([]);
  });

  it('finds no servers on the prototype of what it is given', () => {
    const inherited = Object.create({ mcpServers: { a: { command: 'x' } } });
    expect(() => parseConfig(inherited)).toThrow('no "mcpServers" found');
  });

  it('calls servers what it likes, and they can be used under that name', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'a"b', 'a/b', '../up', '💥', 'n'.repeat(500)];
    const { servers } = parseConfig(JSON.parse(JSON.stringify({ mcpServers: {} })));
    const configs = new Map(servers);
    for (const name of names) {
      // As parsed from JSON: a key `__proto__` of a literal would be the prototype.
      const text = `{"mcpServers":{${JSON.stringify(name)}:${JSON.stringify(scripted())}}}`;
      for (const [serverName, config] of parseConfig(JSON.parse(text)).servers) configs.set(serverName, config);
    }
    const provider = createNodeProvider(configs);
    const proxy = new McpProxyTool(provider, specsOf(configs));
    for (const name of names) {
      const answer = textOf(await proxy.run({ tool: 'echo', server: name, args: { message: name } }));
      expect(answer).toBe(`Echo: ${name}`);
    }
    await proxy.closeAll();
    await provider.closeAll();
  });
});

describe('a key that is there twice', () => {
  it('keeps its server from being started, and no other: a reader sees the first, a parser takes the last', async () => {
    const path = await aFile(
      '{"mcpServers": {\n "a": {"command": "safe"},\n "b": {"command": "x", "args": [], "\\u0061rgs": ["--evil"]},\n' +
        ' "c": {"command": "x"},\n "a": {"command": "evil"}\n}}',
    );
    const { servers, problems } = await readConfigFile(path);
    expect([...servers.keys()]).toEqual(['c']);
    expect(problems.map(({ error }) => error.message.replace(path, 'mcp.json'))).toEqual([
      'mcp.json: server "b": args is there twice (line 3). Remove one of them.',
      'mcp.json: server "a": it is there twice (line 5). Remove one of them.',
    ]);
  });

  it('makes the file an error when it is the list of servers, and does not matter elsewhere', async () => {
    const twice = await aFile(`{"mcpServers": {}, // one\n "mcpServers": {"a": {"command": "x"}}}`);
    await expect(readConfigFile(twice)).rejects.toThrow('"mcpServers" is there twice (line 2)');
    const elsewhere = await aFile(
      '{"theme": 1, "theme": 2, "mcpServers": {"a": {"command": "x"}}, "x": [{"y":1},{"y":1}]}',
    );
    expect([...(await readConfigFile(elsewhere)).servers.keys()]).toEqual(['a']);
  });
});

describe('a configuration file of another system', () => {
  it.each([
    ['with a byte order mark', Buffer.from(`\ufeff${good}`)],
    [
      'with the line ends of Windows',
      Buffer.from('{\r\n // mine\r\n "mcpServers": {\r\n "a": {"command": "x"},\r\n },\r\n}\r\n'),
    ],
    ['in UTF-16, as a shell of Windows writes it', Buffer.from(`\ufeff${good}`, 'utf16le')],
    ['in UTF-16 the other way round', Buffer.from(`\ufeff${good}`, 'utf16le').swap16()],
  ])('%s is read like any other', async (_what, bytes) => {
    expect([...(await readConfigFile(await aFile(bytes))).servers.keys()]).toEqual(['a']);
  });

  it('tells the right place of a fault behind such line ends', () => {
    expect(() => parseJsonc('{\r\n "a": 1,\r\n "b" 2\r\n}', 'f')).toThrow('line 3, column 6');
  });
});
