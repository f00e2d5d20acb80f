/** Reads an audit chain back: proves it link by link, and rebuilds where every session stood. */
import type { GateLike, GateModel } from '../model.js';
import { type AuditHead, auditKey, type ChainedRecord, GENESIS, type HmacKey, signedBytes } from './audit.js';

/** Options of `replay`. */
export interface ReplayOptions {
  /** The secret of the chain. */
  readonly key: string | Uint8Array;
  /** The end of the chain as known from elsewhere: without it, nobody can tell whether records were cut off the end. */
  readonly head?: AuditHead;
  /** The head before the first of these records. Default: the chain begins with them. */
  readonly from?: AuditHead;
  /** The gate: commits that its machine would not make are bad links too. Not asked where guards or context decide. */
  readonly gate?: GateLike;
}

/** Where a session stood at the end. */
export interface ReplayedSession {
  readonly state: string;
  readonly version: number;
}

/** The first link that does not hold. */
export interface BadLink {
  /** Its place among the records given, from 0; of a truncation, how many there were. */
  readonly index: number;
  readonly reason: /** It is no record. */
    | 'malformed'
    /** It does not follow the one before: something was removed, inserted or moved. */
    | 'order'
    /** It was changed, or signed with another key. */
    | 'forged'
    /** It is well signed, but tells of a move that cannot be. */
    | 'impossible'
    /** The records end before the head that was given. */
    | 'truncated';
  readonly message: string;
}

/** What a replay found. `sessions` is the state up to the first bad link; ended sessions are not in it. */
export interface Replay {
  readonly sessions: ReadonlyMap<string, ReplayedSession>;
  readonly head: AuditHead;
  /** `undefined`: every link holds. */
  readonly badLink: BadLink | undefined;
}

/**
 * Verifies and replays a chain. Never throws on what it reads.
 *
 * @example
 * ```ts
 * const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
 * const { badLink, sessions } = await replay(lines.map((line) => JSON.parse(line)), { key, head, gate });
 * ```
 */
export async function replay(
  records: Iterable<unknown> | AsyncIterable<unknown>,
  options: ReplayOptions,
): Promise<Replay> {
  const key = await auditKey(options.key);
  const model = options.gate?.model.conditional ? undefined : options.gate?.model;
  const sessions = new Map<string, ReplayedSession>();
  let head = options.from ?? { seq: 0, hash: GENESIS };
  let index = 0;
  const stop = (reason: BadLink['reason'], message: string): Replay => ({
    sessions,
    head,
    badLink: { index, reason, message },
  });

  for await (const record of records) {
    if (!isChained(record)) return stop('malformed', `Record ${index} is no audit record.`);
    if (record.seq !== head.seq + 1 || record.previous !== head.hash)
      return stop('order', `Record ${index} has number ${record.seq}, but does not follow number ${head.seq}.`);
    if (!(await isSigned(record, key)))
      return stop('forged', `Record ${index} was changed, or signed with another key.`);
    const problem = apply(record, sessions, model);
    if (problem) return stop('impossible', `Record ${index}: ${problem}.`);
    head = { seq: record.seq, hash: record.hash };
    index += 1;
  }
  if (options.head && (options.head.seq !== head.seq || options.head.hash !== head.hash))
    return stop('truncated', `The records end with number ${head.seq}, the chain with number ${options.head.seq}.`);
  return { sessions, head, badLink: undefined };
}

/** Moves the session as the record says, or tells why it cannot have. */
function apply(
  record: ChainedRecord,
  sessions: Map<string, ReplayedSession>,
  model: GateModel | undefined,
): string | undefined {
  const { kind, session, state, nextState, version, event } = record;
  const known = sessions.get(session);
  switch (kind) {
    case 'committed':
    case 'forced': {
      if (nextState === undefined) return `it moved session ${session} nowhere`;
      if (known && version <= known.version) return `session ${session} was at version ${known.version} already`;
      // Between these two there may be records in the chain of another process.
      const follows = known?.version === version - 1;
      if (kind === 'committed' && follows && known.state !== state)
        return `session ${session} was in ${known.state}, not in ${state}`;
      if (kind === 'committed' && model && event !== undefined) {
        const made = stateAfter(model, state, event);
        if (made !== nextState) return `event ${event} leads from ${state} to ${made}, not to ${nextState}`;
      }
      sessions.set(session, { state: nextState, version });
      return undefined;
    }
    case 'ended':
      sessions.delete(session);
      return undefined;
    case 'allowed':
    case 'refused':
    case 'reserved':
    case 'rolled_back':
    case 'lost':
      return undefined;
    default:
      return `${String(kind satisfies never)} is no kind of decision`;
  }
}

function stateAfter(model: GateModel, state: string, event: string): string {
  try {
    return model.step(model.standAt(state, 0, undefined), { type: event }, 0).snapshot.state;
  } catch {
    return 'nowhere, for the gate has no such state';
  }
}

async function isSigned(record: ChainedRecord, key: HmacKey): Promise<boolean> {
  // One spelling only: another would pass here, and make the next record look wrong.
  if (!/^[0-9a-f]{64}$/.test(record.hash)) return false;
  const signature = Uint8Array.from(record.hash.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  // `verify` compares in constant time.
  return crypto.subtle.verify('HMAC', key, signature, signedBytes(record));
}

function isChained(value: unknown): value is ChainedRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, session, state, version, seq, previous, hash } = value as Readonly<Record<string, unknown>>;
  const texts = [kind, session, state, previous, hash].every((text) => typeof text === 'string');
  return texts && typeof version === 'number' && typeof seq === 'number';
}
