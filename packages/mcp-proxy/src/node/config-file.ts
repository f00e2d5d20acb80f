/** Reads configuration files as hosts and editors write them (comments and trailing commas included), and notices their changes. */
import { createReadStream, type FSWatcher, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type ParseConfigOptions, type ParsedConfig, parseConfig, SERVER_KEYS, type UpstreamConfig } from './config.js';
import { ConfigError, messageOf } from './errors.js';
import { duplicateKeys, parseJsonc } from './jsonc.js';
import { realTimer, type SetTimer } from './timers.js';

/** Some hosts keep much more in the same file; none of them keeps this much. */
const MAX_CONFIG_BYTES = 64 * 1024 * 1024;

/**
 * Reads one file.
 *
 * @throws {ConfigError} `CONFIG_UNREADABLE`, `CONFIG_NOT_JSON` (with line and column) or `CONFIG_INVALID`.
 */
export async function readConfigFile(
  path: string,
  options: Pick<ParseConfigOptions, 'variables'> = {},
): Promise<ParsedConfig> {
  let text: string;
  try {
    text = decoded(await readBounded(path));
  } catch (cause) {
    throw new ConfigError('CONFIG_UNREADABLE', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return unambiguous(parseConfig(parseJsonc(text, path), { ...options, source: path }), text, path);
}

/** The file may be a device or a pipe that never ends. */
async function readBounded(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_CONFIG_BYTES) throw new Error(`it has more than ${MAX_CONFIG_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Some shells of Windows write UTF-16, with a byte order mark in front. */
function decoded(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.toString('utf8');
}

/** A key that is there twice means one thing to a reader and another to a parser: such a server is not started. */
function unambiguous(parsed: ParsedConfig, text: string, source: string): ParsedConfig {
  const servers = new Map(parsed.servers);
  const problems = [...parsed.problems];
  for (const { path, line } of duplicateKeys(text)) {
    const [key = '', serverName, ...field] = path[0] === 'mcp' ? path.slice(1) : path;
    if (!SERVER_KEYS.some((each) => each === key)) continue;
    if (serverName === undefined) {
      throw new ConfigError('CONFIG_INVALID', `${source}: "${key}" is there twice (line ${line}). Join the two.`);
    }
    const what = field.length === 0 ? 'it' : field.join('.');
    const message = `${source}: server "${serverName}": ${what} is there twice (line ${line}). Remove one of them.`;
    if (!servers.delete(serverName)) continue;
    problems.push({ serverName, error: new ConfigError('CONFIG_INVALID', message) });
  }
  return { servers, problems };
}

/** Reads several files; a name in a later one replaces the same name in an earlier one. */
export async function readConfigFiles(
  paths: readonly string[],
  options: Pick<ParseConfigOptions, 'variables'> = {},
): Promise<ParsedConfig> {
  const servers = new Map<string, UpstreamConfig>();
  const problems = new Map<string, ConfigError>();
  for (const path of paths) {
    const parsed = await readConfigFile(path, options);
    for (const [name, config] of parsed.servers) {
      servers.set(name, config);
      problems.delete(name);
    }
    for (const { serverName, error } of parsed.problems) {
      problems.set(serverName, error);
      servers.delete(serverName);
    }
  }
  return { servers, problems: [...problems].map(([serverName, error]) => ({ serverName, error })) };
}

export interface WatchConfigOptions {
  readonly onChange: () => void;
  readonly onError?: (error: unknown) => void;
  /** Editors write in several steps; how long the files must be still, in milliseconds. Default 200. */
  readonly settleMs?: number;
  readonly setTimer?: SetTimer;
}

/** Calls `onChange` after any of the files changed. Folders are watched, since editors replace the file itself. */
export function watchConfigFiles(paths: readonly string[], options: WatchConfigOptions): { close(): void } {
  const names = new Map<string, Set<string>>();
  for (const path of paths.map((each) => resolve(each))) {
    names.set(dirname(path), (names.get(dirname(path)) ?? new Set()).add(basename(path)));
  }
  let cancel: (() => void) | undefined;
  const settle = (): void => {
    cancel?.();
    cancel = (options.setTimer ?? realTimer)(options.onChange, options.settleMs ?? 200);
  };
  const watchers: FSWatcher[] = [];
  for (const [folder, files] of names) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || files.has(name)) settle();
      });
      watcher.on('error', (error) => options.onError?.(error));
      watchers.push(watcher);
    } catch (error) {
      options.onError?.(error);
    }
  }
  return {
    close() {
      cancel?.();
      for (const watcher of watchers) watcher.close();
    },
  };
}
