/** A cache in one file, for command-line tools: written whole and renamed into place, readable by its owner alone. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject } from './is-object.js';
import { parseEraRecord } from './store-cache.js';
import type { EraRecord, MCPEraCache } from './types.js';

export interface FileEraCacheOptions {
  /** Its folder is made where it is missing. */
  readonly path: string;
  /** How many verdicts are kept, the oldest dropped first. Default 1000. */
  readonly maxEntries?: number;
  /** Told when the file was no valid cache, or not this user's own, and is begun anew. */
  readonly onError?: (error: unknown) => void;
}

/**
 * A corrupt file counts as empty and is replaced at the next write; so does a link, a pipe, or a file of another user, which
 * somebody may have put there for us to believe. Two processes that write at once never leave a torn
 * file; the later one may drop the other's verdict, which costs a question.
 *
 * @throws the system's error when the file cannot be written
 */
export function createFileEraCache({ path, maxEntries = 1000, onError }: FileEraCacheOptions): MCPEraCache {
  let queue: Promise<unknown> = Promise.resolve();

  async function load(): Promise<Map<string, EraRecord>> {
    let text: string | undefined;
    try {
      text = await readOwn(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      throw error;
    }
    try {
      if (text === undefined)
        throw new Error(`${path} is a link, no regular file, or another user's; it is not believed`);
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

/** `O_NONBLOCK`: a pipe must not make us wait for a writer. Windows, whose users have folders of their own, knows neither flag. */
const OPEN_OWN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The text of a regular file of this user or of root; `undefined` for anything else that lies there. */
async function readOwn(path: string): Promise<string | undefined> {
  const file = await open(path, OPEN_OWN).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP') return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    const us = process.getuid?.() ?? stats.uid;
    // A folder was named by mistake: reading it says so.
    const isOwn = stats.uid === us || stats.uid === 0;
    return isOwn && (stats.isFile() || stats.isDirectory()) ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}
