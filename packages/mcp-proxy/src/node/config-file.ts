/** Reads configuration files as hosts and editors write them (comments and trailing commas included), and notices their changes. */
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type ParseConfigOptions, type ParsedConfig, parseConfig, type UpstreamConfig } from './config.js';
import { ConfigError, messageOf } from './errors.js';
import { parseJsonc } from './jsonc.js';
import { realTimer, type SetTimer } from './timers.js';

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
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError('CONFIG_UNREADABLE', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseConfig(parseJsonc(text, path), { ...options, source: path });
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
