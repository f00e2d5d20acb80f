import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createNodeProvider, parseConfig } from '../../src/node/index.js';

const require = createRequire(import.meta.url);
const bin = (name: string): string => join(dirname(require.resolve(`${name}/package.json`)), 'dist/index.js');

describe('createNodeProvider', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  it('lists and calls a server over stdio', async () => {
    const { servers } = parseConfig({
      mcpServers: {
        everything: { command: process.execPath, args: [bin('@modelcontextprotocol/server-everything'), 'stdio'] },
      },
    });
    const provider = createNodeProvider(servers, { debugLog: (line) => console.error(line) });
    closers.push(() => provider.closeAll());
    const connection = await provider.connect('everything');
    const tools = await connection.listTools();
    expect(tools.map((tool) => tool.name)).toContain('echo');
    expect(await connection.callTool('echo', { message: 'hi' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hi' }],
    });
    expect(provider.describe('everything')).toEqual({ state: 'connected', era: 'legacy' });
  });
});
