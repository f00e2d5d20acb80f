/** Random machines and event sequences. */
import fc from 'fast-check';
import type { FsmConfig } from '../src/index.js';

const EVENTS = ['GO', 'BACK', 'LOOP', 'a.b', 'constructor', '__proto__', 'toString', 'END'];
const NAMES = ['idle', 'busy', 'done', 'a.b', '#hash', '.dot', 'constructor', '__proto__', 'with space', 'ünï'];

/** A valid config: any names, any targets, final states with and without `on`, self-loops. */
export const configs: fc.Arbitrary<FsmConfig> = fc
  .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 6 })
  .chain((names) => {
    const state = fc.record(
      {
        on: fc
          .array(fc.tuple(fc.constantFrom(...EVENTS), fc.constantFrom(...names)), { maxLength: 5 })
          .map((entries) => Object.fromEntries(entries)),
        type: fc.constant('final' as const),
      },
      { requiredKeys: [] },
    );
    return fc.record({
      initial: fc.constantFrom(...names),
      states: fc
        .tuple(...names.map(() => state))
        .map((states) => Object.fromEntries(names.map((name, at) => [name, states[at] ?? {}]))),
    });
  });

/** Events that the machines may know, and some that none does. */
export const events: fc.Arbitrary<string> = fc.constantFrom(...EVENTS, 'UNKNOWN', 'xstate.init', 'go');
