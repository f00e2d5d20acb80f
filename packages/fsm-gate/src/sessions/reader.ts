/** Reads a session and makes sure that what the store gave belongs to this gate. */
import { type Awaitable, isPending } from '../awaitable.js';
import { GateError } from '../errors.js';
import type { GateModel } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import type { GateStore, StoredSession } from './store.js';

/** Trusted sessions out of an untrusted store. */
export interface SessionReader {
  /** The session, or a new one. */
  read(key: string): Awaitable<StoredSession>;
  /** The same session with its snapshot checked, migrated where the author's migration can. Throws where it is not ours. */
  accept(session: StoredSession): StoredSession;
}

/** What a reader works with. */
export interface ReaderOptions {
  readonly model: GateModel;
  readonly store: GateStore;
  readonly now: () => number;
  readonly migrate: ((snapshot: FsmSnapshot, reason: Error) => FsmSnapshot | undefined) | undefined;
}

export function createReader({ model, store, now, migrate }: ReaderOptions): SessionReader {
  return {
    read(key) {
      const stored = store.read(checkKey(key));
      return isPending(stored) ? stored.then(acceptOrBegin) : acceptOrBegin(stored);
    },
    accept,
  };

  function acceptOrBegin(stored: StoredSession | undefined): StoredSession {
    return stored ? accept(stored) : { snapshot: model.start(now()), version: 0 };
  }

  function accept(session: StoredSession): StoredSession {
    const { snapshot, version } = session;
    try {
      const accepted = model.accept(snapshot);
      return accepted === snapshot ? session : { snapshot: accepted, version };
    } catch (error) {
      const migrated = error instanceof GateError && migrate?.(snapshot, error);
      if (!migrated) throw error;
      return { snapshot: model.accept(migrated), version };
    }
  }
}

/** A missing key would make strangers share one session, so it is an error and never a default. */
export function checkKey(key: string): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new GateError(
    'ARGUMENT_INVALID',
    'A session key must be a non-empty string; calls without one have no session.',
  );
}
