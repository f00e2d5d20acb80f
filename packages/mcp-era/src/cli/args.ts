/** The command line, read. Pure. */

export const USAGE = `Usage:
  mcp-era <url> [options]                 which protocol an HTTP server speaks
  mcp-era [options] -- <command> [args]   the same of a stdio server
  mcp-era --all <config.json> [options]   of every server of an mcpServers config
  mcp-era explain [file] [options]        classify a recorded answer; without a file, from stdin

Options:
  --header <name: value>   sent with the question; may be repeated
  --env <NAME=value>       given to the command; may be repeated
  --sse                    the address is of the older HTTP+SSE transport
  --timeout <ms>           how long to wait for an answer (3000 over stdio, 10000 over HTTP)
  --cache <file>           keep verdicts in a file, and answer from it
  --expect <era>           modern or legacy: exit with 3 when it is the other
  --stdio                  with explain: the answer came over stdio
  --json                   print JSON
  --help, --version

Exit codes: 0 the era is known, 1 something failed, 2 wrong usage, 3 not the era expected,
4 sign-in needed, 5 unavailable, 6 redirected, 7 not MCP, 8 no version in common.
With --all, the highest of them.
`;

export interface CliOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly sse: boolean;
  readonly stdio: boolean;
  readonly json: boolean;
  readonly timeoutMs?: number;
  readonly cache?: string;
  readonly expect?: 'modern' | 'legacy';
}

export type CliCommand =
  | { readonly do: 'help' | 'version' }
  | { readonly do: 'probe-url'; readonly url: string; readonly options: CliOptions }
  | {
      readonly do: 'probe-command';
      readonly command: string;
      readonly args: readonly string[];
      readonly options: CliOptions;
    }
  | { readonly do: 'probe-all'; readonly config: string; readonly options: CliOptions }
  | { readonly do: 'explain'; readonly file: string | undefined; readonly options: CliOptions }
  | { readonly do: 'refuse'; readonly because: string };

/** Never throws: wrong usage is a command of its own, which never repeats the value of a header or variable. */
export function parseArgs(argv: readonly string[]): CliCommand {
  const refuse = (because: string): CliCommand => ({ do: 'refuse', because });
  const headers: Record<string, string> = {};
  const env: Record<string, string> = {};
  const flags = { sse: false, stdio: false, json: false };
  const values: Record<string, string> = {};
  const rest: string[] = [];
  const end = argv.indexOf('--');
  // `--name=value` is `--name value`.
  const words = (end === -1 ? argv : argv.slice(0, end)).flatMap((word) => {
    const [, flag, value] = /^(--(?:header|env|timeout|cache|expect|all))=(.*)$/s.exec(word) ?? [];
    return flag && value !== undefined ? [flag, value] : [word];
  });

  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const next = words[i + 1];
    switch (word) {
      case '--help':
      case '-h':
        return { do: 'help' };
      case '--version':
        return { do: 'version' };
      case '--json':
      case '--sse':
      case '--stdio':
        flags[word.slice(2) as keyof typeof flags] = true;
        break;
      case '--header':
      case '--env': {
        const [, name, value] = /^([^:=\s]+)\s*[:=]\s*(.*)$/s.exec(next ?? '') ?? [];
        if (!name || value === undefined) {
          return refuse(word === '--header' ? '--header needs "Name: value"' : '--env needs NAME=value');
        }
        (word === '--header' ? headers : env)[name] = value;
        i++;
        break;
      }
      case '--timeout':
      case '--cache':
      case '--expect':
      case '--all':
        if (next === undefined) return refuse(`${word} needs a value`);
        values[word.slice(2)] = next;
        i++;
        break;
      default:
        if (word.startsWith('-')) return refuse(`unknown option ${word.split('=')[0]}`);
        rest.push(word);
    }
  }

  const { timeout, cache, expect, all } = values;
  if (timeout !== undefined && !(Number(timeout) > 0))
    return refuse('--timeout needs a number of milliseconds above 0');
  if (expect !== undefined && expect !== 'modern' && expect !== 'legacy')
    return refuse('--expect needs modern or legacy');
  const options: CliOptions = {
    headers,
    env,
    ...flags,
    ...(timeout !== undefined && { timeoutMs: Number(timeout) }),
    ...(cache !== undefined && { cache }),
    ...(expect !== undefined && { expect }),
  };
  const [first, second] = rest;
  if (first === 'explain') {
    return rest.length > 2 ? refuse('explain takes one file') : { do: 'explain', file: second, options };
  }
  if (all !== undefined)
    return rest.length ? refuse('--all takes a config and no address') : { do: 'probe-all', config: all, options };
  if (end !== -1) {
    const [command, ...args] = argv.slice(end + 1);
    if (!command) return refuse('no command after --');
    return rest.length
      ? refuse('give an address or a command, not both')
      : { do: 'probe-command', command, args, options };
  }
  if (!first) return refuse('give an address, or -- and a command');
  if (!/^https?:\/\//i.test(first))
    return refuse('an address begins with http:// or https://; a command comes after --');
  return rest.length > 1
    ? refuse('one address at a time; a command comes after --')
    : { do: 'probe-url', url: first, options };
}
