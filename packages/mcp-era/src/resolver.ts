/** The resolver that many connections share: one question per server, verdicts with an age, healed when proved wrong. */
import { boundedMap, createMcpEraCache } from './cache.js';
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
  /**
   * Age at which a legacy verdict is asked about again. Default 3 600 000 (1 h); up to 10 % less by `random`. One that
   * rests on silence, an exit or a bare HTTP status is asked about after five minutes, a modern one after the `ttlMs` of
   * its `DiscoverResult`, but no sooner than after five minutes and no later than after a day.
   */
  readonly legacyTtlMs?: number;
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
}

export interface EraEvent {
  readonly type:
    | 'probe' // a question was asked
    | 'hit' // the cache had a verdict
    | 'join' // waited for a question that was already out
    | 'stale' // the cache had a verdict past its age
    | 'backoff' // refused without asking, because the last question failed
    | 'undetermined' // the answer told nothing
    | 'heal' // a verdict proved wrong, by a report or by asking again, and is dropped
    | 'cache-error'; // the cache threw; it was done without
  readonly key: string;
  readonly era?: McpEra | undefined;
  /** An `EraUndeterminedError`, or what the cache threw. */
  readonly error?: unknown;
}

export interface EraResolver {
  /**
   * The era of a server.
   *
   * @throws {EraUndeterminedError} when it cannot be told, or could not a moment ago: after a failure nobody is asked for a second, then two, up to a minute
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
    legacyTtlMs = 3_600_000,
    onEvent = () => {},
  } = options;
  const flights = new Map<string, Promise<EraResolution>>();
  const failures = boundedMap<{ error: EraUndeterminedError; until: number; waitMs: number }>(1000);

  return { resolve, reportMismatch };

  async function resolve(request: EraRequest): Promise<EraResolution> {
    const { key, pin, probeSupported = true, revalidate, signal } = request;
    signal?.throwIfAborted();
    if (!probeSupported) return unasked('HTTP+SSE', SSE_ERA);
    if (pin === 'legacy') return unasked('pinned', LEGACY_ERA);
    const record = await abortable(read(request), signal);
    if (pin) return unasked('pinned', { ...record, kind: pin, version: MODERN_VERSIONS[0] });
    if (!record) return join(request);

    const old = { ...unasked('cached', record), fromCache: true };
    // A clock that was set back, or a store that lies, must not make a verdict last for ever.
    // A time that is missing compares as past.
    const { kind, checkedAt, expiresAt } = record as Required<EraRecord>;
    const until = Math.min(expiresAt, checkedAt + (kind === 'legacy' ? legacyTtlMs : DAY));
    const fresh = checkedAt <= now() && now() < until;
    tell(fresh ? 'hit' : 'stale', key, record);
    if (fresh) return old;
    if (revalidate ? revalidate === 'inline' : kindOf(request) === 'stdio') {
      try {
        // Where another caller is asking on its own pipe already, there is no reason to wait for it.
        if (!flights.has(privateKey(request))) return await join(request, record);
      } catch (error) {
        if (!(error instanceof EraUndeterminedError)) throw error;
      }
    } else {
      // Its failure is told to `onEvent`; the old verdict stands meanwhile.
      join({ ...request, signal: undefined }, record).catch(() => {});
    }
    return { ...old, stale: true };
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
    flights.delete(privateKey(request));
    failures.delete(key);
    tell('heal', key, record);
    await guard(key, async () => {
      await cache.delete(key);
      await cache.delete(privateKey(request));
    });
  }

  /** Waits for the question that is out, or asks it. */
  async function join(request: EraRequest, old?: EraRecord): Promise<EraResolution> {
    const { key, signal } = request;
    const id = privateKey(request);
    while (flights.has(id)) {
      tell('join', key);
      try {
        return { ...(await abortable(flights.get(id) as Promise<EraResolution>, signal)), probes: 0 };
      } catch (error) {
        // Unless the caller that asked went away: then it is our turn.
        if (signal?.aborted || error instanceof EraUndeterminedError) throw error;
      }
    }
    const current = (): boolean => flights.get(id) === flight;
    const flight: Promise<EraResolution> = ask(request, old, current).finally(() => {
      if (current()) flights.delete(id);
    });
    flights.set(id, flight);
    return flight;
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
        const waitMs = failed ? Math.min(failed.waitMs * 2, 60_000) : 1000;
        const { retryAfterMs = 0 } = reason as { retryAfterMs?: number | undefined };
        const until = now() + Math.max(waitMs, Math.min(retryAfterMs, legacyTtlMs));
        failures.set(key, { error: error as EraUndeterminedError, waitMs, until });
      }
      tell('undetermined', key, undefined, error);
      throw error;
    }
    const checkedAt = now();
    const ttl =
      verdict.kind === 'modern'
        ? Math.max(discover?.ttlMs ?? 0, SOON)
        : verdict.proof === 'silence'
          ? SOON
          : legacyTtlMs;
    const expiresAt = checkedAt + ttl * (1 - random() / 10);
    const record: EraRecord = { ...toEra(verdict), checkedAt, expiresAt, ...(discover && { discover }) };
    if (old && old.kind !== record.kind) tell('heal', key, record);
    if (current()) {
      const [kept, dropped] =
        discover && discover.cacheScope !== 'public' ? [privateKey(request), key] : [key, privateKey(request)];
      await guard(key, async () => {
        await cache.set(kept, record);
        await cache.delete(dropped);
      });
    }
    return { ...unasked(evidence.rule, record), evidence, probes };
  }

  function read(request: Pick<EraRequest, 'key' | 'authContext'>): Promise<EraRecord | undefined> {
    const { key } = request;
    return guard(key, async () => (await cache.get(privateKey(request))) ?? cache.get(key));
  }

  /** A cache that throws is done without: a verdict costs one question more, and the event says why. */
  async function guard<T>(key: string, use: () => Promise<T>): Promise<T | undefined> {
    try {
      return await use();
    } catch (error) {
      tell('cache-error', key, undefined, error);
      return undefined;
    }
  }

  function tell(type: EraEvent['type'], key: string, era?: McpEra, error?: unknown): void {
    onEvent({ type, key, era: era && toEra(era), error });
  }
}

/** Five minutes: how long what may soon be otherwise is relied on. */
const SOON = 300_000;
/** How long a modern verdict is relied on at most, whatever it or its record says. */
const DAY = 288 * SOON;

const kindOf = ({ transport, key }: EraRequest): EraTransportKind => transport ?? transportOfKey(key);

/** Contexts are asked about apart, and a `DiscoverResult` marked private is kept apart for each. */
const privateKey = ({ key, authContext = '' }: Pick<EraRequest, 'key' | 'authContext'>): string =>
  `${key}#${authContext}`;

/** A resolution that took no question. */
function unasked(rule: EraRuleName, record: EraRecord): EraResolution {
  const [, section] = ERA_RULES[rule];
  const { discover } = record;
  return {
    era: toEra(record),
    ...(discover && { discover }),
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
