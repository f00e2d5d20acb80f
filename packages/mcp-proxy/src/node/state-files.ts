/** JSON files that belong to one user: whole or not at all, and readable by nobody else. */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, StateFileError } from './errors.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Where this package keeps its files unless told otherwise: `$XDG_STATE_HOME`, `%LOCALAPPDATA%`, or `~/.local/state`. */
export function defaultStateFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const base = env.XDG_STATE_HOME || env.LOCALAPPDATA || join(homedir(), '.local', 'state');
  return join(base, 'mcp-interlock', 'mcp-proxy');
}

/** A file name for a server: readable, safe on every file system, and different for different `identity`. */
export function fileNameOf(serverName: string, identity: string): string {
  const readable = serverName.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40);
  const digest = createHash('sha256').update(`${serverName}\0${identity}`).digest('hex').slice(0, 16);
  return `${readable}-${digest}.json`;
}

/**
 * The content of a file, or undefined when there is none.
 *
 * @throws {StateFileError} `STATE_FILE_UNREADABLE`, or `STATE_FILE_CORRUPT` when it is no JSON.
 */
export async function readStateFile(path: string): Promise<unknown> {
  let text: string;
  try {
    await withPrivateFolder(dirname(path), async () => undefined);
    text = await withOwn(path, 0, async (file) => {
      if (!(await file.stat()).isFile()) throw new Error('it is no regular file');
      return file.readFile('utf8');
    });
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw new StateFileError('STATE_FILE_UNREADABLE', path, `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `${path} is damaged (no JSON). Restore it, or delete it to start anew.`;
    throw new StateFileError('STATE_FILE_CORRUPT', path, message, { cause });
  }
}

/**
 * Writes beside the file and renames, so that a reader sees the old content or the new, and a crash loses neither.
 *
 * @throws {StateFileError} `STATE_FILE_UNWRITABLE`
 */
export async function writeStateFile(path: string, value: unknown): Promise<void> {
  const beside = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    // An older folder may be open to others.
    await withPrivateFolder(dirname(path), (folder) => folder.chmod(PRIVATE_FOLDER));
    const file = await open(beside, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(typeof value === 'string' ? value : JSON.stringify(value));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (cause) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw new StateFileError('STATE_FILE_UNWRITABLE', path, `${path} cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Removes a file; one that is not there is removed already. */
export async function removeStateFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/**
 * The folder may lie where others can put things, such as a shared temporary folder: one that is a link, or somebody else's, would
 * let them read what we write or plant what we read. (Windows gives every user a folder of their own, and knows neither.)
 */
async function withPrivateFolder(path: string, work: (folder: FileHandle) => Promise<unknown>): Promise<void> {
  if (process.platform !== 'win32') await withOwn(path, constants.O_DIRECTORY, work);
}

/** Opens what is no link and belongs to this user or to root. `O_NONBLOCK`: a planted pipe must not make us wait. */
async function withOwn<T>(path: string, flags: number, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const careful = process.platform === 'win32' ? 0 : constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, constants.O_RDONLY | careful | flags).catch((cause: unknown) => {
    const isLink = hasCode(cause, 'ELOOP') || hasCode(cause, 'ENOTDIR');
    throw isLink ? new Error(`${path} is a link, which is not followed here`, { cause }) : cause;
  });
  try {
    const { uid } = await file.stat();
    const own = process.getuid?.() ?? uid;
    if (uid !== own && uid !== 0) throw new Error(`${path} belongs to user ${uid}, and this process is user ${own}`);
    return await work(file);
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
