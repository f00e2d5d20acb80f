/** Published servers that start without an account: what npx fetches, and what each needs to be told. */

export interface PublishedServer {
  readonly name: string;
  /** With its version: a new release must not fail our tests. */
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A call that works offline, and a part of its answer. */
  readonly call?: { readonly tool: string; readonly args: Record<string, unknown>; readonly answer: string };
}

/** How long one start may take, in milliseconds; the first one of a large server fetches hundreds of packages. */
export const FIRST_START_MS = 180_000;

/** The entry of a server for a configuration. Install scripts stay off, and the package cache is the usual one. */
export function entryOf(server: PublishedServer, cacheFolder: string): Record<string, unknown> {
  return {
    command: 'npx',
    args: ['-y', server.package, ...(server.args ?? [])],
    env: {
      npm_config_ignore_scripts: 'true',
      npm_config_cache: cacheFolder,
      // What was fetched once is used again, and a registry that stumbles is asked again soon.
      npm_config_prefer_offline: 'true',
      npm_config_fetch_retries: '4',
      npm_config_fetch_retry_mintimeout: '1000',
      npm_config_fetch_retry_maxtimeout: '10000',
      ...server.env,
    },
    // The first start fetches the package.
    connectTimeoutMs: FIRST_START_MS,
  };
}

/** `folder` is one that servers may read and write. */
export function publishedServers(folder: string): readonly PublishedServer[] {
  return [
    {
      name: 'everything',
      package: '@modelcontextprotocol/server-everything@2026.8.31',
      args: ['stdio'],
      call: { tool: 'echo', args: { message: 'hi' }, answer: 'Echo: hi' },
    },
    {
      name: 'filesystem',
      package: '@modelcontextprotocol/server-filesystem@2026.8.31',
      args: [folder],
      call: { tool: 'list_allowed_directories', args: {}, answer: folder },
    },
    {
      name: 'memory',
      package: '@modelcontextprotocol/server-memory@2026.8.31',
      env: { MEMORY_FILE_PATH: `${folder}/memory.json` },
      call: { tool: 'read_graph', args: {}, answer: 'entities' },
    },
    {
      name: 'thinking',
      package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
      call: {
        tool: 'sequentialthinking',
        args: { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        answer: 'thoughtNumber',
      },
    },
    {
      name: 'desktop-commander',
      package: '@wonderwhy-er/desktop-commander@0.2.52',
      args: ['--no-onboarding'],
      env: { HOME: folder },
    },
    { name: 'context7', package: '@upstash/context7-mcp@4.1.1' },
    { name: 'playwright', package: '@playwright/mcp@0.0.83', args: ['--headless'] },
    { name: 'chrome-devtools', package: 'chrome-devtools-mcp@1.11.0', args: ['--headless', '--isolated'] },
    { name: 'notion', package: '@notionhq/notion-mcp-server@2.5.2', env: { NOTION_TOKEN: 'ntn_not_a_token' } },
    { name: 'exa', package: 'exa-mcp-server@3.4.1', env: { EXA_API_KEY: 'not-a-key' } },
    { name: 'tavily', package: 'tavily-mcp@0.2.22', env: { TAVILY_API_KEY: 'tvly-not-a-key' } },
    { name: 'figma', package: 'figma-developer-mcp@0.13.2', args: ['--stdio'], env: { FIGMA_API_KEY: 'not-a-key' } },
    {
      name: 'github',
      package: '@modelcontextprotocol/server-github@2025.4.8',
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'not-a-token' },
    },
    {
      name: 'slack',
      package: '@modelcontextprotocol/server-slack@2025.4.25',
      env: { SLACK_BOT_TOKEN: 'xoxb-no', SLACK_TEAM_ID: 'T0' },
    },
    {
      name: 'maps',
      package: '@modelcontextprotocol/server-google-maps@0.6.2',
      env: { GOOGLE_MAPS_API_KEY: 'not-a-key' },
    },
    { name: 'brave', package: '@brave/brave-search-mcp-server@2.1.4', env: { BRAVE_API_KEY: 'not-a-key' } },
  ];
}
