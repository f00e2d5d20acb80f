/**
 * What the conformance kit needs to know of a store: how to open it, how its time moves, how its line can be cut, and
 * what it claims to be able to do. Only what is claimed is tested, and everything that is claimed is.
 */
import type { AgentRunState, AgentRunStore } from '../types.js';

/** What a store promises. A promise that the kit cannot test with the harness given is an error, not a pass. */
export interface StoreCapabilities {
  /**
   * Among whom `consume` has exactly one winner: `none`, the callers of one store object (`process`), or the callers
   * of every connection and every process (`shared`).
   */
  readonly atomicConsume: 'none' | 'process' | 'shared';
  /** Runs expire after `ttlSeconds`, and loading does not extend their life. Needs {@link StoreUnderTest.advance}. */
  readonly ttl: boolean;
  /**
   * Where the reply to `consume` is lost, the caller gets the state or an error, never `null`.
   * Needs {@link StoreUnderTest.unreliable}.
   */
  readonly retrySafe: boolean;
  /**
   * What survives storing. `json`: what JSON keeps. `structured`: also Date, BigInt, undefined, NaN, ±Infinity, −0,
   * Map, Set, Uint8Array, lone surrogates and an own `__proto__`.
   */
  readonly payload: 'json' | 'structured';
}

/** Describes a store to the kit. */
export interface RunStoreHarness {
  /** Heads the tests, for example `RedisAgentRunStore on ioredis 6`. */
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  /** Opens a place without runs, apart from every other place the harness opened. */
  open(options: OpenOptions): Promise<StoreUnderTest>;
}

export interface OpenOptions {
  /** Lifetime that runs must have when they are stored without one of their own. Ignored by a store without `ttl`. */
  readonly ttlSeconds: number;
}

/** One place for runs, and ways to reach it. */
export interface StoreUnderTest {
  /** The connection that most tests use. */
  readonly store: AgentRunStore;
  /** Another connection of this process to the same runs. Without it, concurrent callers share `store`. */
  connect?(): Promise<AgentRunStore>;
  /** A connection from another process to the same runs, as {@link forkStore} gives one. */
  connectFromProcess?(): Promise<AgentRunStore>;
  /** A connection whose line can be cut. */
  unreliable?(): Promise<UnreliableConnection>;
  /** Lets `ms` milliseconds pass for the stored runs: moves an injected clock, or ages the keys. Nobody sleeps. */
  advance?(ms: number): Promise<void>;
  /** Closes every connection and removes what was stored. */
  close(): Promise<void>;
}

/** A connection whose next command can be made to suffer. */
export interface UnreliableConnection {
  readonly store: AgentRunStore;
  /** The next bytes sent are thrown away and the connection is reset: the command was not carried out. */
  loseNextRequest(): void;
  /** The next bytes sent are carried out, their reply is thrown away, and the connection is reset. */
  loseNextReply(): void;
}

/** The part of a test runner that the kit uses; those of vitest, node:test, mocha and jest fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** One thing a store must do. It rejects with a {@link ConformanceError} where the store does not. */
export interface ConformanceTest {
  /** A sentence, for example `a second consume gets null`. */
  readonly name: string;
  run(): Promise<void>;
}

export type { AgentRunState, AgentRunStore };
