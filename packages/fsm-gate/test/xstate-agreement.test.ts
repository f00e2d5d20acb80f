/** The table of a flat config and XState agree on every machine and every sequence. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { type FsmConfig, StateMachineGate } from '../src/index.js';
import { configs, events } from './arbitraries.js';

/** What may happen to a session. `restore` goes back to the n-th snapshot taken so far. */
type Action = { send: string } | { save: true } | { restore: number } | { clone: true };

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ send: events }) },
    { weight: 1, arbitrary: fc.constant({ save: true } as const) },
    { weight: 1, arbitrary: fc.record({ restore: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.constant({ clone: true } as const) },
  ),
  { maxLength: 40 },
);

/** XState reads dots and `#` in state names as paths; the reference machine numbers its states. */
function reference(config: FsmConfig) {
  const names = Object.keys(config.states);
  const alias = (name: string): string => `s${names.indexOf(name)}`;
  const states = Object.fromEntries(
    Object.entries(config.states).map(([name, { on = {}, type }]) => [
      alias(name),
      {
        ...(type && { type }),
        on: Object.fromEntries(Object.entries(on).map(([event, target]) => [event, alias(target)])),
      },
    ]),
  );
  const machine = createMachine({ initial: alias(config.initial), states });
  const nameOf = (value: unknown): string => names[Number(String(value).slice(1))] ?? '?';
  return { machine, nameOf };
}

describe('a flat gate and XState', () => {
  // XState's development build warns of each event that a finished actor ignores; that it ignores them is what is tested.
  beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
  afterAll(() => void vi.restoreAllMocks());

  it('agree on every sequence of events, saves, restores and clones', async () => {
    await fc.assert(
      fc.asyncProperty(configs, actions, async (config, sequence) => {
        const { machine, nameOf } = reference(config);
        let gate = new StateMachineGate(config);
        let actor = createActor(machine).start();
        const saved = [{ ours: gate.snapshot(), theirs: actor.getPersistedSnapshot() }];

        for (const action of sequence) {
          if ('send' in action) {
            const before = nameOf(actor.getSnapshot().value);
            actor.send({ type: action.send });
            const after = nameOf(actor.getSnapshot().value);
            const result = await gate.transition(action.send);
            expect(result).toEqual({ changed: before !== after, previousState: before, currentState: after });
          } else if ('save' in action) {
            saved.push({ ours: gate.snapshot(), theirs: actor.getPersistedSnapshot() });
          } else if ('restore' in action) {
            const chosen = saved[action.restore % saved.length]!;
            gate.restore(JSON.parse(JSON.stringify(chosen.ours)));
            actor.stop();
            actor = createActor(machine, { snapshot: chosen.theirs }).start();
          } else {
            gate = gate.clone();
          }
          expect(gate.currentState).toBe(nameOf(actor.getSnapshot().value));
        }
        actor.stop();
      }),
      { numRuns: 500 },
    );
  });

  it('agree after init, which runs an actor of the very same machine', async () => {
    await fc.assert(
      fc.asyncProperty(configs, fc.array(events, { maxLength: 20 }), async (config, sequence) => {
        const plain = new StateMachineGate(config);
        const tried = new StateMachineGate(config);
        expect(await tried.init()).toBe(true);
        for (const event of sequence) expect(await tried.transition(event)).toEqual(await plain.transition(event));
      }),
      { numRuns: 200 },
    );
  });
});
