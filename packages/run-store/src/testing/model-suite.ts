/**
 * A store against a model of it: random sequences of store, load, consume and passing time must give, call by call,
 * what a map with deadlines gives. fast-check shrinks a failure to the shortest sequence that shows it.
 */
import type { AsyncCommand } from 'fast-check';
import { ensure, ensureSame, needed } from './assert.js';
import { type FastCheck, loadFastCheck } from './fast-check-peer.js';
import type { AgentRunState, AgentRunStore, ConformanceTest, RunStoreHarness, StoreUnderTest } from './harness.js';
import { aPausedRun } from './sample-runs.js';
import { aRunId, TTL_SECONDS, withPlace } from './suite.js';

/** Sums of these stay minutes away from the lifetime, so that the store's own clock cannot disagree with the model's. */
const STEPS_MS = [(TTL_SECONDS * 1000 * 5) / 12, (TTL_SECONDS * 1000 * 2) / 3] as const;

export interface ModelOptions {
  /** Sequences tried. Default 30. */
  readonly numRuns?: number;
  /** Repeats an earlier run of the property. Default: a fresh one, named in the failure. */
  readonly seed?: number;
}

interface Model {
  readonly runs: Map<string, { readonly state: AgentRunState; readonly goneAt: number }>;
  now: number;
}

interface Real {
  readonly place: StoreUnderTest;
  /** The connections of the place; commands use any of them. */
  readonly stores: readonly AgentRunStore[];
}

type Command = AsyncCommand<Model, Real>;

export function modelSuite(harness: RunStoreHarness, options: ModelOptions = {}): ConformanceTest[] {
  return [
    {
      name: 'any sequence of calls answers as a map with deadlines would',
      async run() {
        const fc = await loadFastCheck();
        const settings = {
          numRuns: options.numRuns ?? 30,
          ...(options.seed === undefined ? {} : { seed: options.seed }),
        };
        const property = fc.asyncProperty(commandsFor(fc, harness), (commands) =>
          withPlace(harness, async (place) => {
            const stores = [place.store, ...(place.connect ? [await place.connect()] : [])];
            await fc.asyncModelRun(() => ({ model: { runs: new Map(), now: 0 }, real: { place, stores } }), commands);
          }),
        );
        await fc.assert(property, settings);
      },
    },
  ];
}

function commandsFor(fc: FastCheck, harness: RunStoreHarness) {
  const runId = fc.constantFrom(...[aRunId(), aRunId(), aRunId()]);
  const connection = fc.nat({ max: 1 });
  const state = statesFor(fc);
  const commands = [
    fc.tuple(runId, connection, state).map(([id, via, run]) => storing(id, via, run)),
    fc.tuple(runId, connection).map(([id, via]) => loading(id, via)),
    fc.tuple(runId, connection).map(([id, via]) => consuming(id, via)),
  ];
  const passing = fc.constantFrom(...STEPS_MS).map(advancing);
  return fc.commands(harness.capabilities.ttl ? [...commands, passing] : commands, { maxCommands: 25, size: 'max' });
}

function statesFor(fc: FastCheck) {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const message = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: text });
  return fc
    .record({
      messages: fc.array(message, { maxLength: 3 }),
      pending: fc.uniqueArray(fc.uuid(), { maxLength: 2 }),
      meta: text,
    })
    .map(({ messages, pending, meta }): AgentRunState => {
      return { ...aPausedRun(), messages, pendingToolCallIds: pending, meta: { text: meta } };
    });
}

function storing(runId: string, via: number, state: AgentRunState): Command {
  return {
    check: () => true,
    async run(model, real) {
      await storeOf(real, via).store(runId, state);
      model.runs.set(runId, { state, goneAt: model.now + TTL_SECONDS * 1000 });
    },
    toString: () => `store(${runId}, ${JSON.stringify(state)})`,
  };
}

function loading(runId: string, via: number): Command {
  return {
    check: () => true,
    async run(model, real) {
      expectAnswer(await storeOf(real, via).load(runId), model, runId, 'load');
    },
    toString: () => `load(${runId})`,
  };
}

function consuming(runId: string, via: number): Command {
  return {
    check: () => true,
    async run(model, real) {
      expectAnswer(await storeOf(real, via).consume(runId), model, runId, 'consume');
      model.runs.delete(runId);
    },
    toString: () => `consume(${runId})`,
  };
}

function advancing(ms: number): Command {
  return {
    check: () => true,
    async run(model, { place }) {
      await needed(place.advance, 'advance', 'ttl').call(place, ms);
      model.now += ms;
    },
    toString: () => `advance(${ms} ms)`,
  };
}

function expectAnswer(found: AgentRunState | null, model: Model, runId: string, call: string): void {
  const run = model.runs.get(runId);
  const expected = run && run.goneAt > model.now ? run.state : null;
  if (expected === null) ensure(found === null, () => `${call}(${runId}) answered with a run that is not there.`);
  else ensureSame(found, expected, `${call}(${runId})`);
}

function storeOf(real: Real, via: number): AgentRunStore {
  return real.stores[via % real.stores.length]!;
}
