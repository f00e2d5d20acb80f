/** A cache in one file, for command-line tools: written whole and renamed into place, readable by its owner alone. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject } from './is-object.js';
import { parseEraRecord } from './store-cache.js';
import type { EraRecord, MCPEraCache } from './types.js';

export interface FileEraCacheOptions {
  /** Its folder is made where it is missing. */
  readonly path: string;
  /** How many verdicts are kept, the oldest dropped first. Default 1000. */
  readonly maxEntries?: number;
  /** Told when the file was no valid cache and is begun anew. */
  readonly onError?: (error: unknown) => void;
}

/**
 * A corrupt file counts as empty and is replaced at the next write. Two processes that write at once never leave a torn
 * file; the later one may drop the other's verdict, which costs a question.
 *
 * @throws the system's error when the file cannot be written
 */
export function createFileEraCache({ path, maxEntries = 1000, onError }: FileEraCacheOptions): MCPEraCache {
  let queue: Promise<unknown> = Promise.resolve();

  async function load(): Promise<Map<string, EraRecord>> {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      throw error;
    }
    try {
      const entries: unknown = JSON.parse(text);
      if (!isObject(entries)) throw new SyntaxError(`${path} holds no object`);
      return new Map(
        Object.entries(entries).flatMap(([key, value]) => {
          const record = parseEraRecord(JSON.stringify(value));
          return record ? [[key, record] as const] : [];
        }),
      );
    } catch (error) {
      onError?.(error);
      return new Map();
    }
  }

  /** One change at a time within this process, each read afresh for what others have written. */
  function change(edit: (records: Map<string, EraRecord>) => void): Promise<void> {
    const done = queue.then(async () => {
      const records = await load();
      edit(records);
      const kept = [...records].slice(-maxEntries);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const draft = `${path}.${randomUUID()}.tmp`;
      try {
        await writeFile(draft, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600, flag: 'wx' });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    });
    queue = done.catch(() => {});
    return done;
  }

  return {
    get: async (key) => (await load()).get(key),
    set: (key, record) =>
      change((records) => {
        records.delete(key);
        records.set(key, record);
      }),
    delete: (key) => change((records) => void records.delete(key)),
  };
}
