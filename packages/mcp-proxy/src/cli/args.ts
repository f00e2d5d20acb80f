/** The command line, as data. */
import { parseArgs } from 'node:util';
import type { DirectToolName } from '../server/direct-tools.js';

/** What holds for every command. */
interface CommonOptions {
  readonly configs: readonly string[];
  readonly stateFolder: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
}

export type Command = CommonOptions &
  (
    | {
        readonly kind: 'serve';
        readonly transport: 'stdio' | 'http';
        readonly port: number;
        readonly hostname: string;
        readonly allowedHostnames: readonly string[];
        /** Name of the variable that holds the token. */
        readonly tokenVariable: string | undefined;
        readonly approve: 'none' | 'changes' | 'all';
        readonly direct: readonly DirectToolName[];
        readonly pins: 'on' | 'off';
      }
    | { readonly kind: 'status' }
    | { readonly kind: 'search'; readonly query: string; readonly server: string | undefined }
    | { readonly kind: 'describe'; readonly tool: string; readonly server: string | undefined }
    | { readonly kind: 'call'; readonly tool: string; readonly server: string | undefined; readonly args: string }
    | { readonly kind: 'login'; readonly server: string; readonly port: number }
    | { readonly kind: 'logout'; readonly server: string }
    | { readonly kind: 'approve'; readonly server: string; readonly tools: readonly string[] }
    | { readonly kind: 'help' }
    | { readonly kind: 'version' }
  );

/** A command line that cannot be understood; the message says what to write. */
export class UsageError extends Error {
  readonly code = 'USAGE';
  override readonly name = 'UsageError';
}

export const HELP = `mcp-proxy: many MCP servers behind one tool

  mcp-proxy --config mcp.json                serve the "mcp" tool over stdio
  mcp-proxy --config mcp.json --http 8808    serve it over Streamable HTTP on 127.0.0.1
  mcp-proxy status                           what is configured, and how each server is
  mcp-proxy search <words…>                  find tools
  mcp-proxy describe <tool>                  what a tool takes
  mcp-proxy call <tool> ['{"json":"args"}']  call it ("-" reads the arguments from stdin)
  mcp-proxy login <server>                   sign in to a remote server (logout forgets it)
  mcp-proxy approve <server> [tools…]        trust definitions that changed

  --config <file>       may be repeated; later files win. Default: the first of mcp.json, .mcp.json, .cursor/mcp.json, .vscode/mcp.json
  --server <name>       for search, describe and call: only this server
  --direct <srv/tool>   show this tool beside "mcp"; may be repeated
  --approve <which>     ask the person before calls: all, changes (all but reading ones) or none. Default none
  --no-pins             do not hold back tools whose definition changed
  --http <port>, --host <address>, --allow-host <name>, --token-env <VARIABLE>
  --state <folder>      where pins, tokens and tool lists are kept
  --json, --verbose, --help, --version
`;

/**
 * @throws {UsageError}
 */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  const common: CommonOptions = {
    configs: values.config ?? [],
    stateFolder: values.state,
    json: values.json ?? false,
    verbose: values.verbose ?? false,
  };
  const [name = 'serve', ...rest] = positionals;
  const one = (what: string): string => {
    if (rest[0] === undefined) throw new UsageError(`${name} needs ${what}. See mcp-proxy --help.`);
    return rest[0];
  };
  const server = values.server;
  if (values.help) return { ...common, kind: 'help' };
  if (values.version) return { ...common, kind: 'version' };
  switch (name) {
    case 'serve':
      return {
        ...common,
        kind: 'serve',
        transport: values.http === undefined ? 'stdio' : 'http',
        port: portOf(values.http ?? '0'),
        hostname: values.host ?? '127.0.0.1',
        allowedHostnames: values['allow-host'] ?? [],
        tokenVariable: values['token-env'],
        approve: oneOf('--approve', values.approve ?? 'none', ['none', 'changes', 'all'] as const),
        direct: (values.direct ?? []).map(directTool),
        pins: values['no-pins'] ? 'off' : 'on',
      };
    case 'status':
      return { ...common, kind: 'status' };
    case 'search':
      one('what to search for');
      return { ...common, kind: 'search', query: rest.join(' '), server };
    case 'describe':
      return { ...common, kind: 'describe', tool: one('the name of a tool'), server };
    case 'call':
      return { ...common, kind: 'call', tool: one('the name of a tool'), server, args: rest[1] ?? '{}' };
    case 'login':
      return { ...common, kind: 'login', server: one('the name of a server'), port: portOf(values.port ?? '0') };
    case 'logout':
      return { ...common, kind: 'logout', server: one('the name of a server') };
    case 'approve':
      return { ...common, kind: 'approve', server: one('the name of a server'), tools: rest.slice(1) };
    case 'help':
      return { ...common, kind: 'help' };
    default:
      throw new UsageError(`There is no command "${name}". See mcp-proxy --help.`);
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c', multiple: true },
        state: { type: 'string' },
        server: { type: 'string', short: 's' },
        http: { type: 'string' },
        host: { type: 'string' },
        port: { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        'token-env': { type: 'string' },
        approve: { type: 'string' },
        direct: { type: 'string', multiple: true },
        'no-pins': { type: 'boolean' },
        json: { type: 'boolean' },
        verbose: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)} See mcp-proxy --help.`, { cause });
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`"${text}" is no port; use 0 to 65535.`);
  return port;
}

function directTool(text: string): DirectToolName {
  if (!/^[^/]+\/.+$/.test(text)) throw new UsageError(`--direct "${text}": write it as server/tool.`);
  return text as DirectToolName;
}

function oneOf<const T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${option} "${value}": use ${allowed.join(', ')}.`);
  return found;
}
