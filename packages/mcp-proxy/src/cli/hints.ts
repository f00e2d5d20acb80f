/** The next steps as commands. */
import type { Hints } from '../render/hints.js';

export const TERMINAL_HINTS: Hints = {
  search: (server) => `mcp-proxy search <words…>${server === undefined ? '' : ` --server ${quoted(server)}`}`,
  describe: 'mcp-proxy describe <tool>',
  status: 'mcp-proxy status',
  // Every command connects anew; this one says how that went.
  connect: () => 'mcp-proxy status',
  server: '--server <name>',
  approve: (server) => `See what changed and trust it: mcp-proxy approve ${quoted(server)}`,
};

/** For a shell: names come from a configuration and may hold anything. */
function quoted(text: string): string {
  return /^[\w.@][\w.@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
