/** The one tool definition that the model sees: at most 200 tokens with ten servers named, never more than 300. */
import { cleanLine } from './text/clean.js';
import { estimateTokens, worstTokens } from './text/tokens.js';

/** The name that the model calls. */
export const MCP_PROXY_TOOL_NAME = 'mcp';

const MAX_NAMED_SERVERS = 10;
/** What the names may cost together: names made of words, and names that were made to be expensive. */
const MAX_NAME_TOKENS = { likely: 55, worst: 130 };

/** The description, naming up to ten servers so that those that are not connected yet are known too. */
export function proxyDescription(serverNames: readonly string[]): string {
  return [
    'Finds and calls tools of MCP servers: search by need (several at once are fine), describe one, then call it by tool and args.',
    serversSentence(serverNames),
  ].join(' ');
}

function serversSentence(serverNames: readonly string[]): string {
  if (serverNames.length === 0) return 'No server is configured.';
  const named: string[] = [];
  let likely = 0;
  let worst = 0;
  for (const name of serverNames) {
    const shown = cleanLine(name);
    likely += estimateTokens(shown) + 1;
    worst += worstTokens(shown) + 1;
    const isTooMuch = likely > MAX_NAME_TOKENS.likely || worst > MAX_NAME_TOKENS.worst;
    if (named.length === MAX_NAMED_SERVERS || isTooMuch) break;
    named.push(shown);
  }
  const more = serverNames.length - named.length;
  if (named.length === 0) return `${serverNames.length} servers; call without arguments to list them.`;
  return `Servers: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** JSON Schema of the arguments. A new object each time: hosts are known to write into it. */
export function proxyParameters(): Record<string, unknown> {
  const text = (description: string): Record<string, unknown> => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      search: text('What you need'),
      describe: text('Tool name'),
      tool: text('Tool to call'),
      args: { type: 'object' },
      server: text('Server of the tool; alone: list its tools'),
      connect: text('Server'),
      status: { type: 'boolean' },
      cursor: text('From a cut answer'),
    },
    additionalProperties: false,
  };
}
