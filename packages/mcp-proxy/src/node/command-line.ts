/** How a configured command is spawned: as it is, except on Windows, where `npx` and its like are batch files. */
import { existsSync } from 'node:fs';
import { win32 } from 'node:path';

/** What to give to `spawn`. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Windows only: the arguments are already quoted. */
  readonly windowsVerbatimArguments?: boolean;
}

/** What the answer depends on; everything defaults to this machine. */
export interface SpawnCommandOptions {
  readonly platform?: NodeJS.Platform;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly exists?: (path: string) => boolean;
}

/**
 * A batch file cannot be spawned (ENOENT for `npx`, EINVAL for `npx.cmd`): it needs the command interpreter, whose special
 * characters then have to be escaped.
 */
export function spawnCommand(
  command: string,
  args: readonly string[],
  options: SpawnCommandOptions = {},
): SpawnCommand {
  if ((options.platform ?? process.platform) !== 'win32') return { command, args };
  const env = options.env ?? process.env;
  const resolved = resolveOnWindows(command, env, options.exists ?? existsSync) ?? command;
  if (/\.(?:exe|com)$/i.test(resolved)) return { command: resolved, args };
  const line = [escapeMeta(resolved), ...args.map((arg) => escapeMeta(escapeMeta(quote(arg))))].join(' ');
  return {
    command: variableOf(env, 'COMSPEC') ?? 'cmd.exe',
    args: ['/d', '/s', '/c', `"${line}"`],
    windowsVerbatimArguments: true,
  };
}

function resolveOnWindows(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string | undefined {
  const extensions = win32.extname(command) ? [''] : (variableOf(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';');
  const folders = /[\\/]/.test(command) ? [''] : (variableOf(env, 'PATH') ?? '').split(';').filter(Boolean);
  for (const folder of folders) {
    for (const extension of extensions) {
      const candidate = win32.join(folder, command + extension.toLowerCase());
      if (exists(candidate)) return candidate;
    }
  }
  return undefined;
}

// Names of variables are not case-sensitive on Windows, and `Path` is the usual spelling.
function variableOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

// Backslashes count only before a quote or at the end: the C runtime's own rule.
function quote(arg: string): string {
  return `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
}

function escapeMeta(text: string): string {
  return text.replace(/([()\][%!^"`<>&|;, *?])/g, '^$1');
}
