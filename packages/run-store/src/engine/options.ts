/** Options of a store, their defaults, and what is refused at construction. */
import type { RunBackend } from '../backend.js';
import { RunStoreError } from '../errors.js';
import type { RunRuntime } from '../runtime.js';
import type { EncryptionOptions } from '../seal/key-ring.js';
import type { CompressionOptions } from '../seal/sealer.js';
import type { RunEventHooks } from './events.js';

/** Everything but the backend; the classes that bring their own backend take these. */
export interface RunStoreEngineOptions<TState> extends RunEventHooks {
  /** Begins every key. Printable ASCII without braces. Default `'interlock:run:'`. */
  readonly keyPrefix?: string | undefined;
  /** Life of a run in seconds, unless `store` says otherwise. Default 300; `'never'` keeps runs until they are taken. */
  readonly ttlSeconds?: number | 'never' | undefined;
  /** How long a taken copy stays for the token that took it, in seconds. Default 60, at most 600. */
  readonly takenCopySeconds?: number | undefined;
  /** How long the outcome of an acknowledged claim is answered to those who ask again, in seconds. Default 3600. */
  readonly outcomeSeconds?: number | undefined;
  /** Refuse, at construction, a backend whose `take` is not atomic among all clients. Default `false`. */
  readonly requireAtomic?: boolean | undefined;
  /** Most bytes of an encoded run, before compression. Default 4 MiB. */
  readonly maxBytes?: number | undefined;
  /** Most bytes that a stored run may inflate to. Default 16 MiB, at least `maxBytes`. */
  readonly maxInflatedBytes?: number | undefined;
  /** Default: gzip from 4096 bytes on. */
  readonly compression?: CompressionOptions | 'none' | undefined;
  /** Default: none. */
  readonly encryption?: EncryptionOptions | undefined;
  /**
   * How runs are listed. `'sealed'`: run ids in the index are encrypted with the key ring; `'clear'`: they are readable
   * in the store, so that a dump of it can resume runs; `'off'`: no listing. Default `'sealed'` with a key ring,
   * `'clear'` where nothing leaves the process, else `'off'`.
   */
  readonly index?: 'sealed' | 'clear' | 'off' | undefined;
  /** Makes the hashes in keys an HMAC: then guessing names does not help against a dump. 16 bytes or more. */
  readonly keySecret?: Uint8Array | string | undefined;
  /** Version of `TState`, a positive integer. Default 1. */
  readonly schemaVersion?: number | undefined;
  /** By the version that they start from: each turns a state of that version into one of the next. */
  readonly migrations?: Readonly<Record<number, (state: unknown) => unknown>> | undefined;
  /** Returns the state to store, without its secrets; must not change the one that it is given. */
  readonly redact?: ((state: TState) => TState) | undefined;
  /** Milliseconds since the epoch, for events and `storedAt`; expiry is the backend's. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default: Web standards; the entries for Node bring `nodeRuntime`. */
  readonly runtime?: RunRuntime | undefined;
}

export interface RunStoreOptions<TState> extends RunStoreEngineOptions<TState> {
  readonly backend: RunBackend;
}

export interface ResolvedTimes {
  /** Absent: for ever. */
  readonly ttlMs: number | undefined;
  readonly retainMs: number;
  readonly outcomeTtlMs: number;
}

export const DEFAULT_TTL_SECONDS = 300;

export function resolveTimes<TState>(options: RunStoreEngineOptions<TState>): ResolvedTimes {
  const { ttlSeconds = DEFAULT_TTL_SECONDS, takenCopySeconds = 60, outcomeSeconds = 3600 } = options;
  const retainMs = milliseconds('takenCopySeconds', takenCopySeconds);
  if (retainMs > 600_000) throw invalid('takenCopySeconds', 'at most 600: a taken run is meant to be gone');
  return {
    ttlMs: ttlSeconds === 'never' ? undefined : milliseconds('ttlSeconds', ttlSeconds),
    retainMs,
    outcomeTtlMs: milliseconds('outcomeSeconds', outcomeSeconds),
  };
}

export function milliseconds(field: string, seconds: number): number {
  if (!Number.isFinite(seconds) || seconds <= 0) throw invalid(field, 'a positive number of seconds');
  if (seconds * 1000 > MAX_LIFE_MS) throw invalid(field, 'at most a hundred years');
  return Math.max(1, Math.round(seconds * 1000));
}

/** What every store's clock can add to now without passing the numbers that it has. */
const MAX_LIFE_MS = 100 * 366 * 86_400_000;

export function checkLease(leaseMs: number): number {
  checkCount('leaseMs', leaseMs);
  if (leaseMs > MAX_LIFE_MS) throw invalid('leaseMs', 'at most a hundred years');
  return leaseMs;
}

export function resolveKeyPrefix(keyPrefix = 'interlock:run:'): string {
  if (/^[\x21-\x7a|~]{0,128}$/.test(keyPrefix)) return keyPrefix;
  throw invalid('keyPrefix', 'at most 128 printable ASCII characters without spaces and braces');
}

export function resolveKeySecret(secret: Uint8Array | string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (secret === undefined) return undefined;
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : new Uint8Array(secret);
  if (bytes.length < 16) throw invalid('keySecret', 'at least 16 bytes');
  return bytes;
}

export function checkCount(field: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) throw invalid(field, 'a positive integer');
  return value;
}

export function checkAtomic<TState>(options: RunStoreOptions<TState>): void {
  if (options?.backend?.capabilities === undefined)
    throw invalid('backend', 'a RunBackend, as memoryRunBackend() makes one');
  const { atomicTake } = options.backend.capabilities;
  if (options.requireAtomic !== true || atomicTake === 'store') return;
  throw new RunStoreError(
    'INVALID_OPTION',
    `requireAtomic: the backend "${options.backend.name}" hands a run out once per ${atomicTake === 'process' ? 'process' : 'call'} only. Use another (for a cache: implement \`take\`).`,
  );
}

export function resolveIndex<TState>(options: RunStoreOptions<TState>): 'sealed' | 'clear' | 'off' {
  const { backend, encryption, index } = options;
  if (index === undefined) {
    if (backend.index === undefined) return 'off';
    if (encryption !== undefined) return 'sealed';
    return backend.capabilities.durability === 'none' ? 'clear' : 'off';
  }
  if (index === 'off') return index;
  if (backend.index === undefined) throw invalid('index', `"off" for the backend "${backend.name}", which cannot list`);
  if (index === 'sealed' && encryption === undefined) throw invalid('index', '"clear" or "off" without `encryption`');
  return index;
}

export function invalid(field: string, what: string): RunStoreError {
  return new RunStoreError('INVALID_OPTION', `The option \`${field}\` must be ${what}.`);
}
