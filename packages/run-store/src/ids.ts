/** Run ids: made unguessable, checked before use, hashed before they become keys. */
import { toBase64Url } from './bytes.js';
import { RunStoreError } from './errors.js';
import { type Awaitable, after, type Bytes, type RunRuntime } from './runtime.js';

const MAX_ID_LENGTH = 512;

/**
 * A fresh run id with 122 or more random bits: whoever knows a run id can resume the run. Throws `UNSUPPORTED` on a
 * runtime without a secure source of randomness; there is no guessable fallback.
 */
export function newAgentRunId(): string {
  if (typeof globalThis.crypto?.randomUUID === 'function') return globalThis.crypto.randomUUID();
  if (typeof globalThis.crypto?.getRandomValues === 'function') {
    return toBase64Url(globalThis.crypto.getRandomValues(new Uint8Array(16)));
  }
  throw new RunStoreError(
    'UNSUPPORTED',
    'This runtime has no crypto.getRandomValues. Pass an id that nobody can guess.',
  );
}

/** The same for a sub-agent's run. */
export function newSubAgentRunId(): string {
  return newAgentRunId();
}

/** Throws `INVALID_RUN_ID` unless `runId` is 1 to 512 characters, well-formed, without control characters. */
export function checkRunId(runId: unknown): asserts runId is string {
  const reason = problemOf(runId);
  if (reason !== undefined) {
    throw new RunStoreError('INVALID_RUN_ID', `The run id ${reason}. Make ids with newAgentRunId().`);
  }
}

function problemOf(runId: unknown): string | undefined {
  if (typeof runId !== 'string') return `is of the type ${typeof runId}, not a string`;
  if (runId === '') return 'is empty';
  if (runId.length > MAX_ID_LENGTH) return `has ${runId.length} characters, more than ${MAX_ID_LENGTH}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(runId)) return 'holds a control character';
  // Two ids that differ in a lone surrogate alone would become one id in UTF-8.
  if (/\p{Surrogate}/u.test(runId)) return 'holds a lone surrogate';
  return undefined;
}

/** Names to keys. What is hashed says what it is, so that a run id never collides with a tenant's name. */
export interface KeyMaker {
  run(runId: string): Awaitable<string>;
  tenant(tenant: string): Awaitable<string>;
  principal(principal: string): Awaitable<string>;
}

/** With a `secret`, an HMAC: then a dump of the store does not even confirm a guessed name. */
export function createKeyMaker(options: {
  readonly runtime: RunRuntime;
  readonly keyPrefix: string;
  readonly secret: Bytes | undefined;
}): KeyMaker {
  const { runtime, keyPrefix, secret } = options;
  const hash = (what: string, name: string): Awaitable<string> =>
    runtime.hash(`${what}\0${keyPrefix}\0${name}`, secret);
  return {
    run: (runId) => after(hash('run', runId), (digest) => `${keyPrefix}{${digest}}`),
    tenant: (tenant) => after(hash('tenant', tenant), (digest) => `${keyPrefix}tenant:{${digest}}`),
    principal: (principal) => hash('principal', principal),
  };
}
