/** What to do next, in the words of whoever reads the answer: a model calls the tool, a person at a terminal types a command. */

export interface Hints {
  /** Searches the tools of all servers, or of one. */
  readonly search: (server?: string) => string;
  readonly describe: string;
  readonly status: string;
  readonly connect: (server: string) => string;
  /** How one server is named in a search or a call. */
  readonly server: string;
  /** What the person in charge does about a tool that is held back. */
  readonly approve: (server: string) => string;
}

export const MODEL_HINTS: Hints = {
  search: (server) =>
    server === undefined ? 'mcp({"search":"…"})' : `mcp({"search":"…","server":${JSON.stringify(server)}})`,
  describe: 'mcp({"describe":"<tool>"})',
  status: 'mcp({})',
  connect: (server) => `mcp({"connect":${JSON.stringify(server)}})`,
  server: '"server"',
  approve: () => 'It cannot be used until the person in charge approves it.',
};
