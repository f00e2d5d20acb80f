/** Lists the tools of published MCP servers over stdio, each fetched by npx; nothing is called. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { IMcpToolInfo, ListedTool } from '../../src/index.js';

interface PublishedServer {
  readonly name: string;
  readonly command: readonly string[];
  /** Made-up settings without which it would not start. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const KEY = 'dummy-0123456789abcdef0123456789abcdef';
/** The first start of a server downloads it. */
const TIMEOUT_MS = 180_000;

export const PUBLISHED_SERVERS: readonly PublishedServer[] = [
  { name: 'filesystem', command: ['@modelcontextprotocol/server-filesystem', '.'] },
  { name: 'memory', command: ['@modelcontextprotocol/server-memory'] },
  { name: 'everything', command: ['@modelcontextprotocol/server-everything'] },
  { name: 'thinking', command: ['@modelcontextprotocol/server-sequential-thinking'] },
  { name: 'playwright', command: ['@playwright/mcp'] },
  { name: 'chrome-devtools', command: ['chrome-devtools-mcp'] },
  { name: 'context7', command: ['@upstash/context7-mcp'] },
  { name: 'notion', command: ['@notionhq/notion-mcp-server'], env: { NOTION_TOKEN: KEY } },
  { name: 'mongodb', command: ['mongodb-mcp-server'] },
  { name: 'exa', command: ['exa-mcp-server'], env: { EXA_API_KEY: KEY } },
  { name: 'github', command: ['@modelcontextprotocol/server-github'], env: { GITHUB_PERSONAL_ACCESS_TOKEN: KEY } },
  {
    name: 'slack',
    command: ['@modelcontextprotocol/server-slack'],
    env: { SLACK_BOT_TOKEN: KEY, SLACK_TEAM_ID: KEY },
  },
  { name: 'google-maps', command: ['@modelcontextprotocol/server-google-maps'], env: { GOOGLE_MAPS_API_KEY: KEY } },
  { name: 'tavily', command: ['tavily-mcp'], env: { TAVILY_API_KEY: KEY } },
  { name: 'airtable', command: ['airtable-mcp-server'], env: { AIRTABLE_API_KEY: KEY } },
  { name: 'kubernetes', command: ['mcp-server-kubernetes'] },
  { name: 'brave-search', command: ['@brave/brave-search-mcp-server'], env: { BRAVE_API_KEY: KEY } },
  { name: 'chart', command: ['@antv/mcp-server-chart'] },
  { name: 'git', command: ['@cyanheads/git-mcp-server'] },
];

export async function listPublishedTools(
  servers: readonly PublishedServer[] = PUBLISHED_SERVERS,
): Promise<ListedTool[]> {
  const tools: ListedTool[] = [];
  // One after another: the first run installs, and a small machine starts few of them at once.
  for (const server of servers) {
    try {
      const listed = await listOverStdio({ command: 'npx', args: ['-y', ...server.command], env: server.env });
      tools.push(...listed.map((tool) => ({ serverName: server.name, tool })));
    } catch (error) {
      console.error(`${server.name} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return tools;
}

/** All tools of a server that is started for it. */
export async function listOverStdio({ command, args, env }: Launch): Promise<IMcpToolInfo[]> {
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...Object.fromEntries(inherited), ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'interlock-bench', version: '0.0.0' });
  try {
    await client.connect(transport, { timeout: TIMEOUT_MS });
    const tools: IMcpToolInfo[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: TIMEOUT_MS });
      for (const { name, description = '', inputSchema } of page.tools) tools.push({ name, description, inputSchema });
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  } finally {
    await client.close();
  }
}
