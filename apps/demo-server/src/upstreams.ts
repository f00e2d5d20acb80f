/** The servers behind the `mcp` tool: three published ones over stdio, started only when a call needs them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEraResolver, type MCPEraCache } from '@mcp-interlock/mcp-era';
import { McpProxyTool } from '@mcp-interlock/mcp-proxy';
import { createNodeProvider, parseConfig, specsOf } from '@mcp-interlock/mcp-proxy/node';

export interface Upstreams {
  readonly proxy: McpProxyTool;
  /** Ends every upstream process and removes the temporary folder. */
  close(): Promise<void>;
}

/** Declares the upstreams; connects to none of them. */
export function openUpstreams(eraCache: MCPEraCache, log: (line: string) => void): Upstreams {
  const folder = mkdtempSync(join(tmpdir(), 'interlock-demo-'));
  writeFileSync(join(folder, 'welcome.txt'), 'Hello from a file behind a proxy behind a gate.\n');
  const { servers, problems } = parseConfig({
    mcpServers: {
      everything: published('@modelcontextprotocol/server-everything'),
      filesystem: published('@modelcontextprotocol/server-filesystem', [folder]),
      memory: {
        ...published('@modelcontextprotocol/server-memory'),
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      },
    },
  });
  for (const { serverName, error } of problems) log(`upstream ${serverName}: ${error.message}`);
  const provider = createNodeProvider(servers, { resolver: createEraResolver({ cache: eraCache }), debugLog: log });
  const proxy = new McpProxyTool(provider, specsOf(servers), { debugLog: log });
  return {
    proxy,
    async close() {
      await proxy.closeAll();
      await provider.closeAll();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How a server that came with this app's dependencies is started, without a package manager in between. */
function published(name: string, args: readonly string[] = []) {
  const require = createRequire(import.meta.url);
  const manifestPath = require.resolve(`${name}/package.json`);
  const manifest = require(manifestPath) as { bin: string | Record<string, string> };
  const bin = typeof manifest.bin === 'string' ? manifest.bin : Object.values(manifest.bin)[0]!;
  return { command: process.execPath, args: [join(manifestPath, '..', bin), ...args] };
}
