/** What the memory backend knows of a key, and the rules for what is over. */
import type { IndexPage, IndexQuery, RunIndexEntry, RunKey } from '../backend.js';
import { startsWith } from '../bytes.js';
import { sequenceAfter } from './cursor.js';

export interface Kept {
  readonly bytes: Uint8Array;
  readonly expiresAt: number;
}
export interface Run extends Kept {
  readonly sequence: number;
  readonly index: RunIndexEntry | undefined;
}
export interface Taken extends Run {
  /** When the run would have been over, had nobody taken it. */
  readonly wouldExpireAt: number;
}
export interface Claimed extends Run {
  readonly token: string;
  readonly fence: number;
  readonly leaseEndsAt: number;
}
export interface Outcome {
  readonly token: string;
  readonly bytes: Uint8Array | undefined;
  readonly expiresAt: number;
}
/** Kept by the slots themselves, so that a bound on runs costs nothing to watch. */
export interface Tally {
  runs: number;
  /** No run ends before. */
  earliestExpiry: number;
}

/** All that is known of one key. */
export class Slot {
  readonly taken: Map<string, Taken> = new Map();
  outcome: Outcome | undefined;
  releasedToken: string | undefined;
  cell: Kept | undefined;
  readonly #tally: Tally;
  #waiting: Run | undefined;
  #claimed: Claimed | undefined;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  get waiting(): Run | undefined {
    return this.#waiting;
  }

  set waiting(run: Run | undefined) {
    this.#count(this.#waiting, run);
    this.#waiting = run;
  }

  get claimed(): Claimed | undefined {
    return this.#claimed;
  }

  set claimed(run: Claimed | undefined) {
    this.#count(this.#claimed, run);
    this.#claimed = run;
  }

  #count(before: Run | undefined, after: Run | undefined): void {
    this.#tally.runs += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    if (after !== undefined) this.#tally.earliestExpiry = Math.min(this.#tally.earliestExpiry, after.expiresAt);
  }
}

export function dropExpired(slot: Slot, at: number): void {
  if (slot.waiting !== undefined && slot.waiting.expiresAt <= at) slot.waiting = undefined;
  if (slot.claimed !== undefined && slot.claimed.expiresAt <= at) slot.claimed = undefined;
  if (slot.outcome !== undefined && slot.outcome.expiresAt <= at) slot.outcome = undefined;
  if (slot.cell !== undefined && slot.cell.expiresAt <= at) slot.cell = undefined;
  for (const [token, copy] of slot.taken) if (copy.expiresAt <= at) slot.taken.delete(token);
}

export function isEmpty(slot: Slot): boolean {
  return runsOf(slot) === 0 && slot.outcome === undefined && slot.taken.size === 0;
}

export function runsOf(slot: Slot): number {
  return (slot.waiting === undefined ? 0 : 1) + (slot.claimed === undefined ? 0 : 1);
}

/** Which of the slot's runs are there and carry the stamp; without one, which are there. */
export function meant(slot: Slot, stamp: Uint8Array | undefined): { readonly waits: boolean; readonly held: boolean } {
  const isMeant = (run: Run | undefined): boolean =>
    run !== undefined && (stamp === undefined || startsWith(run.bytes, stamp));
  return { waits: isMeant(slot.waiting), held: isMeant(slot.claimed) };
}

export function leaseLives(claimed: Claimed | undefined, at: number): boolean {
  return claimed !== undefined && claimed.leaseEndsAt > at;
}

export function outliving(run: Pick<Kept, 'expiresAt'>, at: number, leaseMs: number): number {
  return Math.max(run.expiresAt, at + 2 * leaseMs);
}

export function pageOf(slots: ReadonlyMap<RunKey, Slot>, query: IndexQuery, at: number): IndexPage {
  const after = sequenceAfter(query.cursor);
  const matches: {
    readonly key: RunKey;
    readonly run: Run;
    readonly index: RunIndexEntry;
    readonly status: 'waiting' | 'claimed';
  }[] = [];
  for (const [key, slot] of slots) {
    dropExpired(slot, at);
    const run = slot.waiting ?? slot.claimed;
    const index = run?.index;
    if (run === undefined || index === undefined || index.tenant !== query.tenant) continue;
    if (query.principal !== undefined && index.principal !== query.principal) continue;
    if (query.kind !== undefined && index.kind !== query.kind) continue;
    if (!(run.sequence > after)) continue;
    matches.push({
      key,
      run,
      index,
      status: leaseLives(slot.claimed, at) && slot.waiting === undefined ? 'claimed' : 'waiting',
    });
  }
  matches.sort((a, b) => a.run.sequence - b.run.sequence);
  const page = matches.slice(0, query.limit);
  const last = page.at(-1);
  return {
    runs: page.map(({ key, run, index, status }) => ({
      key,
      bytes: index.bytes,
      status,
      ...(run.expiresAt === Number.POSITIVE_INFINITY ? {} : { expiresInMs: run.expiresAt - at }),
    })),
    ...(last !== undefined && matches.length > page.length ? { cursor: String(last.run.sequence) } : {}),
  };
}
