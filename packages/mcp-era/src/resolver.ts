/** The resolver that many connections share: one question per server, verdicts with an age, healed when proved wrong. */
import { createMcpEraCache } from './cache.js';
import { EraUndeterminedError } from './errors.js';
import { askEra, LEGACY_ERA, type McpEraResolution, SSE_ERA, toEra, transportOfKey } from './resolve.js';
import { ERA_RULES, type EraRuleName } from './rules.js';
import type { EraRecord, EraTransportKind, MCPEraCache, McpEra, McpEraProbe } from './types.js';
import type { EraEvidence } from './verdict.js';
import { MODERN_VERSIONS } from './versions.js';

export interface EraResolverOptions {
  /** Where verdicts are kept. Default: a memory cache of this resolver's own. */
  readonly cache?: MCPEraCache;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** From 0 to below 1; spreads the re-probes of a fleet. */
  readonly random?: () => number;
  /** Age at which a legacy verdict is asked about again. Default 3 600 000 (1 h); up to 10 % less by `random`. */
  readonly legacyTtlMs?: number;
  /** The same for a legacy verdict that rests on silence, an exit or a bare HTTP status. Default 300 000 (5 min). */
  readonly silenceTtlMs?: number;
  /**
   * The least and the most that a modern verdict is kept, around the `ttlMs` of its `DiscoverResult`.
   * Default 300 000 (5 min) and 86 400 000 (a day).
   */
  readonly modernTtlMs?: { readonly min: number; readonly max: number };
  /** Wait after a failed question, doubled each time. Default from 1 000 to 60 000. A `Retry-After` may make it longer. */
  readonly backoffMs?: { readonly min: number; readonly max: number };
  /** Told of everything: what was asked, answered from the cache, healed. For metrics and logs. */
  readonly onEvent?: (event: EraEvent) => void;
}

export interface EraRequest {
  readonly key: string;
  readonly probe: McpEraProbe;
  /** Default: `stdio` for a key that starts so, else `http`. */
  readonly transport?: EraTransportKind;
  /** `false` for HTTP+SSE: legacy without being asked. Default `true`. */
  readonly probeSupported?: boolean;
  /** Named in errors. Default: the key. */
  readonly serverName?: string;
  /** The era, where it is configured: nothing is asked. */
  readonly pin?: McpEra['kind'] | undefined;
  /** Whose view this is: a private `DiscoverResult` is only given to the context it was sent to. A hash, never a credential. */
  readonly authContext?: string | undefined;
  /**
   * What to do with a verdict past its age. `'background'` (default over HTTP) answers with it and asks meanwhile;
   * `'inline'` (default over stdio, where the question travels on the caller's own pipe) asks first.
   */
  readonly revalidate?: 'background' | 'inline' | undefined;
  /** Ask although the server is backed off from. */
  readonly retryNow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `probes` counts what this call caused: 0 for all but one of those that waited together. */
export interface EraResolution extends McpEraResolution {
  readonly evidence: EraEvidence;
  /** The verdict was past its age, and is being asked about. */
  readonly stale?: boolean;
  /** When the verdict was made, in milliseconds since 1970. */
  readonly checkedAt?: number | undefined;
}

export interface EraEvent {
  readonly type:
    | 'probe' // a question was asked
    | 'hit' // the cache had a verdict
    | 'join' // waited for a question that was already out
    | 'stale' // the cache had a verdict past its age
    | 'backoff' // refused without asking, because the last question failed
    | 'undetermined' // the answer told nothing
    | 'change' // the answer contradicted the cached verdict
    | 'heal' // a mismatch was reported and the verdict dropped
    | 'cache-error'; // the cache threw; it was done without
  readonly key: string;
  readonly era?: McpEra | undefined;
  readonly evidence?: EraEvidence | undefined;
  readonly error?: unknown;
}

export interface EraResolver {
  /**
   * The era of a server.
   *
   * @throws {EraUndeterminedError} when it cannot be told, or was not a moment ago (see `backoffMs`)
   * @throws the signal's reason, when aborted
   */
  resolve(request: EraRequest): Promise<EraResolution>;
  /**
   * A later answer proved the verdict wrong: it is dropped, and the next `resolve` asks. A verdict that has been replaced
   * since by one of the other era stays.
   */
  reportMismatch(
    key: string,
    used: McpEra['kind'],
    options?: { readonly authContext?: string | undefined },
  ): Promise<void>;
}

/**
 * ```ts
 * const resolver = createEraResolver();
 * const url = 'https://api.example.com/mcp';
 * const { era, evidence } = await resolver.resolve({
 *   key: mcpEraCacheKey({ type: 'streamable-http', url }),
 *   probe: createHttpProbe({ url }),
 * });
 * ```
 */
export function createEraResolver(options: EraResolverOptions = {}): EraResolver {
  const {
    cache = createMcpEraCache(),
    now = Date.now,
    random = Math.random,
    legacyTtlMs = HOUR,
    silenceTtlMs = HOUR / 12,
    modernTtlMs = { min: HOUR / 12, max: 24 * HOUR },
    backoffMs = { min: 1000, max: 60_000 },
    onEvent = () => {},
  } = options;
  const flights = new Map<string, Promise<EraResolution>>();
  const failures = new Map<string, { error: EraUndeterminedError; until: number; waitMs: number }>();

  return { resolve, reportMismatch };

  async function resolve(request: EraRequest): Promise<EraResolution> {
    const { key, pin, probeSupported = true, revalidate, signal } = request;
    signal?.throwIfAborted();
    if (!probeSupported) return unasked('HTTP+SSE is legacy', SSE_ERA);
    if (pin === 'legacy') return unasked('pinned', LEGACY_ERA);
    const record = await read(request);
    if (pin) return unasked('pinned', { ...(record?.kind === pin && record), kind: pin, version: MODERN_VERSIONS[0] });
    if (!record) return join(request);

    const old = { ...unasked('cached', record), fromCache: true };
    // A clock that was set back, or a store that lies, must not make a verdict last for ever.
    const fresh = (record.checkedAt as number) <= now() && now() < (record.expiresAt as number);
    tell(fresh ? 'hit' : 'stale', key, record);
    if (fresh) return old;
    const inline = (revalidate ?? (kindOf(request) === 'stdio' && 'inline')) === 'inline';
    // Where another caller is asking on its own pipe already, there is no reason to wait for it.
    const answer =
      inline && flights.has(idOf(request))
        ? undefined
        : join({ ...request, signal: inline ? signal : undefined }, record);
    // A failure was told to `onEvent`; the old verdict stands meanwhile.
    const settled = answer?.catch((error: unknown) => {
      if (inline && !(error instanceof EraUndeterminedError)) throw error;
    });
    return (inline && (await settled)) || { ...old, stale: true };
  }

  async function reportMismatch(
    key: string,
    used: McpEra['kind'],
    { authContext }: Pick<EraRequest, 'authContext'> = {},
  ): Promise<void> {
    const request = { key, authContext };
    const record = await read(request);
    if (record && record.kind !== used) return;
    // A question that is out may still be answered by the old server: it is answered, and not kept.
    flights.delete(idOf(request));
    failures.delete(key);
    tell('heal', key, record);
    await guard(key, () => cache.delete(key));
    await guard(key, () => cache.delete(privateKey(request)));
  }

  /** Waits for the question that is out, or asks it. */
  async function join(request: EraRequest, old?: EraRecord): Promise<EraResolution> {
    const { key, signal } = request;
    const id = idOf(request);
    for (;;) {
      const out = flights.get(id);
      if (!out) break;
      tell('join', key);
      try {
        return { ...(await abortable(out, signal)), probes: 0 };
      } catch (error) {
        // Unless the caller that asked went away: then it is our turn.
        if (signal?.aborted || error instanceof EraUndeterminedError) throw error;
        if (flights.get(id) === out) flights.delete(id);
      }
    }
    const flight = ask(request, old, () => flights.get(id) === flight);
    flights.set(id, flight);
    try {
      return await flight;
    } finally {
      if (flights.get(id) === flight) flights.delete(id);
    }
  }

  async function ask(request: EraRequest, old: EraRecord | undefined, current: () => boolean): Promise<EraResolution> {
    const { key, probe, retryNow, serverName = key, signal } = request;
    const failed = failures.get(key);
    if (failed && now() < failed.until && !retryNow) {
      tell('backoff', key);
      throw failed.error;
    }
    const counted: McpEraProbe = (version) => {
      tell('probe', key);
      return probe(version, { signal });
    };
    const { verdict, discover, probes, error } = await abortable(
      askEra(counted, kindOf(request), serverName, now),
      signal,
    );
    const { evidence } = verdict;
    failures.delete(key);
    if (verdict.kind === 'undetermined') {
      const { reason } = verdict;
      // Whoever has signed in comes back at once and must not be made to wait.
      if (reason.kind !== 'sign-in-needed') {
        const waitMs = Math.min(failed ? failed.waitMs * 2 : backoffMs.min, backoffMs.max);
        const asked = 'retryAfterMs' in reason ? Math.min(reason.retryAfterMs ?? 0, legacyTtlMs) : 0;
        failures.set(key, { error: error as EraUndeterminedError, waitMs, until: now() + Math.max(waitMs, asked) });
        if (failures.size > 1000) failures.delete([...failures.keys()][0] as string);
      }
      tell('undetermined', key, undefined, { evidence, error });
      throw error;
    }
    const checkedAt = now();
    const { min, max } = modernTtlMs;
    const ttl =
      verdict.kind === 'modern'
        ? Math.min(Math.max(discover?.ttlMs ?? 0, min), max)
        : verdict.proof === 'silence'
          ? silenceTtlMs
          : legacyTtlMs;
    const expiresAt = checkedAt + ttl * (1 - random() / 10);
    const record: EraRecord = { ...toEra(verdict), checkedAt, expiresAt, ...(discover && { discover }) };
    if (old && old.kind !== record.kind) tell('change', key, record, { evidence });
    if (current()) {
      const [kept, dropped] =
        discover && discover.cacheScope !== 'public' ? [privateKey(request), key] : [key, privateKey(request)];
      await guard(key, () => cache.set(kept, record));
      await guard(key, () => cache.delete(dropped));
    }
    return { ...unasked(evidence.rule, record), evidence, probes };
  }

  async function read(request: Pick<EraRequest, 'key' | 'authContext'>): Promise<EraRecord | undefined> {
    const { key } = request;
    return (await guard(key, () => cache.get(privateKey(request)))) ?? (await guard(key, () => cache.get(key)));
  }

  /** A cache that throws is done without: a verdict costs one question more, and the event says why. */
  async function guard<T>(key: string, use: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await use();
    } catch (error) {
      tell('cache-error', key, undefined, { error });
      return undefined;
    }
  }

  function tell(type: EraEvent['type'], key: string, era?: McpEra, more?: Pick<EraEvent, 'evidence' | 'error'>): void {
    onEvent({ type, key, ...(era && { era: toEra(era) }), ...more });
  }
}

const HOUR = 3_600_000;

const kindOf = ({ transport, key }: EraRequest): EraTransportKind => transport ?? transportOfKey(key);

/** A `DiscoverResult` marked private is kept apart for each authorization context. */
const privateKey = ({ key, authContext = '' }: Pick<EraRequest, 'key' | 'authContext'>): string =>
  `${key}#${authContext}`;

/** Contexts are asked about apart, since each may be shown another `DiscoverResult`. */
const idOf = privateKey;

/** A resolution that took no question. */
function unasked(rule: EraRuleName, record: EraRecord): EraResolution {
  const [, section] = ERA_RULES[rule];
  const { checkedAt, discover } = record;
  return {
    era: toEra(record),
    ...(discover && { discover }),
    checkedAt,
    probes: 0,
    fromCache: false,
    evidence: { sent: 'nothing', received: 'nothing', rule, section },
  };
}

/** The promise, or the signal's reason if that comes first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
