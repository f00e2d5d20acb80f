/** Published servers that start without an account: what npx fetches, and what each needs to be told. */

export interface PublishedServer {
  readonly name: string;
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A call that works offline, and a part of its answer. */
  readonly call?: { readonly tool: string; readonly args: Record<string, unknown>; readonly answer: string };
}

/** The entry of a server for a configuration. Install scripts stay off, and the package cache is the usual one. */
export function entryOf(server: PublishedServer, cacheFolder: string): Record<string, unknown> {
  return {
    command: 'npx',
    args: ['-y', server.package, ...(server.args ?? [])],
    env: { npm_config_ignore_scripts: 'true', npm_config_cache: cacheFolder, ...server.env },
    // The first start fetches the package.
    connectTimeoutMs: 300_000,
  };
}

/** `folder` is one that servers may read and write. */
export function publishedServers(folder: string): readonly PublishedServer[] {
  return [
    {
      name: 'everything',
      package: '@modelcontextprotocol/server-everything',
      args: ['stdio'],
      call: { tool: 'echo', args: { message: 'hi' }, answer: 'Echo: hi' },
    },
    {
      name: 'filesystem',
      package: '@modelcontextprotocol/server-filesystem',
      args: [folder],
      call: { tool: 'list_allowed_directories', args: {}, answer: folder },
    },
    {
      name: 'memory',
      package: '@modelcontextprotocol/server-memory',
      env: { MEMORY_FILE_PATH: `${folder}/memory.json` },
      call: { tool: 'read_graph', args: {}, answer: 'entities' },
    },
    {
      name: 'thinking',
      package: '@modelcontextprotocol/server-sequential-thinking',
      call: {
        tool: 'sequentialthinking',
        args: { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        answer: 'thoughtNumber',
      },
    },
    {
      name: 'desktop-commander',
      package: '@wonderwhy-er/desktop-commander@latest',
      args: ['--no-onboarding'],
      env: { HOME: folder },
    },
    { name: 'context7', package: '@upstash/context7-mcp' },
    { name: 'playwright', package: '@playwright/mcp', args: ['--headless'] },
    { name: 'chrome-devtools', package: 'chrome-devtools-mcp', args: ['--headless', '--isolated'] },
    { name: 'notion', package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: 'ntn_not_a_token' } },
    { name: 'exa', package: 'exa-mcp-server', env: { EXA_API_KEY: 'not-a-key' } },
    { name: 'tavily', package: 'tavily-mcp', env: { TAVILY_API_KEY: 'tvly-not-a-key' } },
    { name: 'figma', package: 'figma-developer-mcp', args: ['--stdio'], env: { FIGMA_API_KEY: 'not-a-key' } },
    {
      name: 'github',
      package: '@modelcontextprotocol/server-github',
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'not-a-token' },
    },
    {
      name: 'slack',
      package: '@modelcontextprotocol/server-slack',
      env: { SLACK_BOT_TOKEN: 'xoxb-no', SLACK_TEAM_ID: 'T0' },
    },
    { name: 'maps', package: '@modelcontextprotocol/server-google-maps', env: { GOOGLE_MAPS_API_KEY: 'not-a-key' } },
    { name: 'brave', package: '@brave/brave-search-mcp-server', env: { BRAVE_API_KEY: 'not-a-key' } },
  ];
}
