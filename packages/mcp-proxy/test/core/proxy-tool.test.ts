import { describe, expect, test } from 'vitest';
import { type IMcpProxyToolOptions, type IMcpServerSpec, McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, providerOf, specsOf, type Upstreams } from '../support/fake-upstream.js';

function aProxy<U extends Upstreams>(
  upstreams: U,
  options: IMcpProxyToolOptions = {},
  specs: IMcpServerSpec[] = specsOf(upstreams),
) {
  const proxy = new McpProxyTool(providerOf(upstreams), specs, options);
  return { proxy, tool: proxy.asTool(), upstreams };
}

const filesAndGit = () => ({
  files: new FakeUpstream([aTool('read_file', 'Reads a file.'), aTool('write_file', 'Writes a file.')]),
  git: new FakeUpstream([aTool('log', 'Shows the history.')]),
});

const broken = () => {
  const upstream = new FakeUpstream();
  upstream.onConnect = () => Promise.reject(new Error('spawn ENOENT'));
  return upstream;
};

describe('status', () => {
  test('constructing the tool, and asking for the status, connects nothing', async () => {
    const { tool, upstreams } = aProxy(filesAndGit());
    expect(await tool.execute({})).toMatch(/^files: not connected\ngit: not connected\n/);
    expect(await tool.execute({ status: true })).toMatch(/^files: not connected/);
    expect(upstreams.files.connects + upstreams.git.connects).toBe(0);
  });

  test('names every server as not connected, connected with its tools, or failed with the reason', async () => {
    const { tool } = aProxy({ ...filesAndGit(), bad: broken() });
    await tool.execute({ connect: 'files' });
    await tool.execute({ connect: 'bad' });
    const status = await tool.execute({});
    expect(status).toContain('files: connected (2 tools)');
    expect(status).toContain('git: not connected');
    expect(status).toMatch(/bad: failed \(spawn ENOENT\); next try from \d{4}-/);
  });

  test('without servers it says so', async () => {
    expect(await aProxy({}).tool.execute({})).toBe('No MCP server is configured.');
  });

  test('shows what the provider knows of a server', async () => {
    const provider = {
      ...providerOf({}),
      describe: () => ({ state: 'disabled' as const, reason: 'switched off in mcp.json' }),
    };
    const proxy = new McpProxyTool(provider, [{ serverName: 'x', resourceIds: [] }]);
    expect(await proxy.asTool().execute({})).toMatch(/x: disabled\n {2}switched off in mcp\.json/);
  });
});

describe('connect and list', () => {
  test('connect lists the tools, and lists them anew when connected already', async () => {
    const { tool, upstreams } = aProxy(filesAndGit());
    expect(await tool.execute({ connect: 'files' })).toContain('- read_file — Reads a file.');
    upstreams.files.tools = [aTool('other')];
    expect(await tool.execute({ connect: 'files' })).toContain('- other');
    expect([upstreams.files.connects, upstreams.files.lists]).toEqual([1, 2]);
  });

  test('a list cuts descriptions at a word boundary', async () => {
    const long = `Reads ${'many words '.repeat(40)}`;
    const { tool } = aProxy({ files: new FakeUpstream([aTool('read', long)]) });
    const line = (await tool.execute({ server: 'files' })).split('\n').find((text) => text.startsWith('- read'))!;
    expect(line.length).toBeLessThan(120);
    expect(line).toMatch(/(many|words)…$/);
  });

  test('a long list is cut with a hint, and still names every tool', async () => {
    const tools = Array.from({ length: 400 }, (_, index) =>
      aTool(`tool_${index}`, `Does something useful, number ${index}.`),
    );
    const { tool } = aProxy({ files: new FakeUpstream(tools) });
    const text = await tool.execute({ server: 'files' });
    expect(text.split('\n').length).toBeLessThan(350);
    expect(text).toMatch(/\d+ more: tool_\d+, .*tool_399\nSearch them: mcp\(\{"search":"…","server":"files"\}\)/);
  });

  test('server takes a name, else any of its resource ids', async () => {
    const upstreams = filesAndGit();
    const { tool } = aProxy(upstreams, {}, [
      { serverName: 'files', resourceIds: ['a', 'b'] },
      { serverName: 'git', resourceIds: ['files'] },
    ]);
    expect(await tool.execute({ server: 'b' })).toContain('read_file');
    // A server's name wins over another one's resource id.
    expect(await tool.execute({ server: 'files' })).toContain('read_file');
    expect(upstreams.files.connects).toBe(1);
  });

  test('an unknown server is named with those that there are', async () => {
    expect(await aProxy(filesAndGit()).tool.execute({ server: 'fils' })).toBe(
      'No server is called "fils". Servers: files, git.',
    );
  });
});

describe('search', () => {
  test('covers all servers; one that fails does not hide the others, and is named', async () => {
    const { tool } = aProxy({ ...filesAndGit(), bad: broken() });
    const found = await tool.execute({ search: 'history of a file' });
    expect(found).toContain('- git: log(input) — Shows the history.');
    expect(found).toContain('- files: read_file(input)');
    expect(found).toMatch(/could not be reached:\n- bad: spawn ENOENT/);
  });

  test('stays on one server when asked to, and connects that one only', async () => {
    const { tool, upstreams } = aProxy(filesAndGit());
    expect(await tool.execute({ search: 'file history', server: 'git' })).not.toContain('files:');
    expect([upstreams.files.connects, upstreams.git.connects]).toEqual([0, 1]);
  });

  test('keeps within its token budget and says how many more match', async () => {
    const tools = Array.from({ length: 60 }, (_, index) =>
      aTool(`file_${index}`, `Works on a file. ${'words '.repeat(60)}`),
    );
    const { tool } = aProxy({ files: new FakeUpstream(tools) }, { search: { maxTokens: 200, limit: 50 } });
    const found = await tool.execute({ search: 'file' });
    expect(found.split('\n').filter((line) => line.startsWith('- ')).length).toBeLessThan(10);
    expect(found).toMatch(/5\d more match; name the task more closely/);
    expect((await tool.run({ search: 'file' })).content).toEqual([{ type: 'text', text: found }]);
  });

  test('nothing found is said with the number of tools that were looked through', async () => {
    expect(await aProxy(filesAndGit()).tool.execute({ search: 'ΩΩ' })).toContain('No tool matches "ΩΩ" among 3 tools.');
  });

  test('sees new tools after the upstream announced them', async () => {
    const { tool, upstreams } = aProxy(filesAndGit());
    await tool.execute({ search: 'file' });
    upstreams.git.announceTools([aTool('blame', 'Who wrote a line.')]);
    expect(await tool.execute({ search: 'blame' })).toContain('- git: blame(input)');
    expect(await tool.execute({ tool: 'log' })).toContain('No server has a tool called "log"');
  });

  test("the contract's plain OR search can be had", async () => {
    const { tool } = aProxy(filesAndGit(), { search: 'or' });
    expect(await tool.execute({ search: 'HISTORY zzz' })).toContain('git: log');
    expect(await tool.execute({ search: 'folder' })).toContain('No tool matches');
  });
});

describe('describe', () => {
  test('shows the owner, the whole description, what its server says of it, and the parameters', async () => {
    const annotated = {
      ...aTool('read', 'Reads.\nSecond line.'),
      annotations: { readOnlyHint: true, destructiveHint: false },
      outputSchema: { properties: { text: { type: 'string' } } },
    };
    const { tool } = aProxy({ files: new FakeUpstream([annotated]) });
    expect(await tool.execute({ describe: 'read' })).toBe(
      'read (server: files)\nReads.\nSecond line.\nIts server says: read-only, not destructive.\nParameters:\n  - input: string, required\nReturns (structured):\n  - text: string, optional',
    );
  });

  test('with a server hint connects just that server', async () => {
    const { tool, upstreams } = aProxy(filesAndGit());
    expect(await tool.execute({ describe: 'log', server: 'git' })).toContain('log (server: git)');
    expect(upstreams.files.connects).toBe(0);
  });

  test('descriptions lose what must not reach a model, and are bounded', async () => {
    const { tool } = aProxy({
      files: new FakeUpstream([aTool('read', `\u001b[8mhidden\u001b[0m\u202e${'x'.repeat(20_000)}`)]),
    });
    const text = await tool.execute({ describe: 'read' });
    expect(text.length).toBeLessThan(5_000);
    expect(text).not.toMatch(/\u202e/);
    expect(text).toContain('\nhiddenxxx');
  });
});

describe('the same tool on two servers', () => {
  const twins = () => ({
    a: new FakeUpstream([aTool('read', 'Reads from A.')]),
    b: new FakeUpstream([aTool('read', 'Reads from B.')]),
  });

  test('is never guessed: the candidates are returned', async () => {
    const { tool, upstreams } = aProxy(twins());
    const answer = await tool.execute({ tool: 'read' });
    expect(answer).toMatch(/2 servers have a tool "read"\. Add "server".*\n- a — Reads from A\.\n- b — Reads from B\./);
    expect(upstreams.a.calls.length + upstreams.b.calls.length).toBe(0);
  });

  test('is found with a hint, or with the server written before the name', async () => {
    const { tool, upstreams } = aProxy(twins());
    for (const args of [
      { tool: 'read', server: 'b' },
      { tool: 'b/read' },
      { tool: 'mcp__b__read' },
      { tool: 'b__read', server: 'b' },
    ]) {
      expect(await tool.execute(args)).toBe('done');
    }
    expect([upstreams.a.calls.length, upstreams.b.calls.length]).toEqual([0, 4]);
  });
});

describe('a tool that is not there', () => {
  test('is answered with similar ones', async () => {
    const { tool } = aProxy(filesAndGit());
    expect(await tool.execute({ tool: 'read_files' })).toMatch(
      /No server has a tool called "read_files"\.\nSimilar:\n- files: read_file\(input\)/,
    );
    expect(await tool.execute({ describe: 'read', server: 'git' })).toContain('"git" has no tool called "read"');
  });

  test('names the servers that could not be asked', async () => {
    const { tool } = aProxy({ ...filesAndGit(), bad: broken() });
    expect(await tool.execute({ tool: 'nothing' })).toContain('- bad: spawn ENOENT');
    expect(await tool.execute({ tool: 'x', server: 'bad' })).toMatch(/^bad: failed/);
  });
});

describe('allowed tools', () => {
  const specs = (allowedTools?: string[], blockedTools?: string[]): IMcpServerSpec[] => [
    {
      serverName: 'files',
      resourceIds: ['r'],
      ...(allowedTools && { allowedTools }),
      ...(blockedTools && { blockedTools }),
    },
  ];

  test.each([
    [['read_file'], undefined, ['read_file']],
    [[], undefined, []],
    [undefined, undefined, ['read_file', 'write_file']],
    [undefined, ['write_file'], ['read_file']],
    [['read_file', 'write_file'], ['write_file'], ['read_file']],
  ])('allowed %j and blocked %j leave %j, everywhere', async (allowed, blocked, visible) => {
    const { tool, proxy, upstreams } = aProxy({ files: filesAndGit().files }, {}, specs(allowed, blocked));
    const list = await tool.execute({ connect: 'files' });
    for (const name of ['read_file', 'write_file']) {
      const seen = visible.includes(name);
      expect(list.includes(`- ${name}`)).toBe(seen);
      expect((await tool.execute({ search: name })).includes(`${name}(`)).toBe(seen);
      expect((await tool.execute({ describe: name })).includes('Parameters:')).toBe(seen);
      expect((await tool.execute({ tool: name })) === 'done').toBe(seen);
      expect((await proxy.resolve('r', name)) !== undefined).toBe(seen);
    }
    expect(upstreams.files.calls.map((call) => call.toolName)).toEqual(visible);
  });

  test('are checked again at the call: a handle from before does not get around a new list', async () => {
    const { proxy, upstreams } = aProxy({ files: filesAndGit().files }, {}, specs());
    const handle = (await proxy.resolve('r', 'write_file'))!;
    await proxy.setSpecs(specs(['read_file']));
    await expect(handle.call({})).rejects.toMatchObject({ code: 'CALL_REFUSED' });
    expect(upstreams.files.calls).toEqual([]);
  });
});

describe('resolve', () => {
  test('an unknown id, a disallowed tool, and a server that fails are undefined', async () => {
    const { proxy } = aProxy({ ...filesAndGit(), bad: broken() });
    expect(await proxy.resolve('nothing', 'log')).toBeUndefined();
    expect(await proxy.resolve('res-git', 'nothing')).toBeUndefined();
    expect(await proxy.resolve('res-bad', 'log')).toBeUndefined();
  });

  test('gives the definition and a call that returns the raw result', async () => {
    const { proxy, upstreams } = aProxy(filesAndGit());
    const raw = { content: [], structuredContent: { n: 1 } };
    upstreams.git.onCall = () => raw;
    const handle = (await proxy.resolve('res-git', 'log'))!;
    expect(handle).toMatchObject({ name: 'log', serverName: 'git', description: 'Shows the history.' });
    expect(await handle.call({ input: 'x' })).toBe(raw);
    expect(upstreams.files.connects).toBe(0);
  });
});

describe('servers that come and go', () => {
  test('new specs appear, missing ones are closed, the others keep their connection', async () => {
    const upstreams = filesAndGit();
    const { proxy, tool } = aProxy(upstreams, {}, [{ serverName: 'files', resourceIds: [] }]);
    await tool.execute({ connect: 'files' });
    await proxy.setSpecs([
      { serverName: 'files', resourceIds: ['new'] },
      { serverName: 'git', resourceIds: [] },
    ]);
    expect(await tool.execute({ search: 'history' })).toContain('git: log');
    expect(await tool.execute({ server: 'new' })).toContain('read_file');
    expect(upstreams.files.connects).toBe(1);
    await proxy.setSpecs([{ serverName: 'git', resourceIds: [] }]);
    expect(upstreams.files.closes).toBe(1);
    expect(await tool.execute({ server: 'files' })).toContain('No server is called "files"');
    expect(proxy.asTool().description).toContain('Servers: git.');
  });

  test('a handle to a tool of a server that was taken out leads nowhere', async () => {
    const { proxy, upstreams } = aProxy(filesAndGit());
    const handle = (await proxy.resolve('res-git', 'log'))!;
    await proxy.setSpecs([{ serverName: 'files', resourceIds: [] }]);
    await expect(handle.call({})).rejects.toMatchObject({
      code: 'CALL_FAILED',
      message: expect.stringContaining('no longer configured'),
    });
    expect([upstreams.git.connects, upstreams.git.closes, upstreams.git.calls.length]).toEqual([1, 1, 0]);
  });

  test('a server that is reset is connected anew', async () => {
    const { proxy, tool, upstreams } = aProxy(filesAndGit());
    await tool.execute({ tool: 'log' });
    await proxy.reset('git');
    expect(proxy.visibleTools('git')).toBeUndefined();
    expect(await tool.execute({ tool: 'log', server: 'git' })).toBe('done');
    expect([upstreams.git.connects, upstreams.git.closes]).toEqual([2, 1]);
  });

  test('listeners hear which server has other tools, and may fail', async () => {
    const { proxy, tool, upstreams } = aProxy(filesAndGit());
    const heard: string[] = [];
    proxy.onToolsChanged(() => {
      throw new Error('listener');
    });
    const stop = proxy.onToolsChanged((serverName) => heard.push(serverName));
    await tool.execute({ connect: 'git' });
    upstreams.git.announceTools([]);
    stop();
    upstreams.git.announceTools([]);
    expect(heard).toEqual(['git', 'git']);
    expect(proxy.visibleTools('git')?.map(({ name }) => name)).toEqual(['log']);
  });
});

test('a note about an ignored field is part of the answer', async () => {
  expect(await aProxy(filesAndGit()).tool.execute({ search: 5 })).toMatch(
    /Note: "search" was ignored: it must be a string, not a number\./,
  );
});
