/** The declarative description of a flat state machine, and the state and event names that its type carries. */

/**
 * A flat state machine: the subset of XState's `createMachine()` config that needs no engine.
 *
 * @example
 * ```ts
 * const config = {
 *   id: 'checkout',
 *   initial: 'empty',
 *   states: {
 *     empty: { on: { ADD_ITEM: 'has_items' } },
 *     has_items: { on: { CHECKOUT: 'payment' } },
 *     payment: { on: { PAY: 'paid' } },
 *     paid: { type: 'final' },
 *   },
 * } as const satisfies FsmConfig;
 * ```
 */
export interface FsmConfig {
  /** Names the machine in errors, audit records and diagrams. Default `'gate'`. */
  id?: string;
  /** The state in which a new session starts; one of the keys of `states`. */
  initial: string;
  /** The states by name, each with the events it accepts and the state each leads to. */
  states: Record<
    string,
    {
      /** `{ EVENT: 'target' }`. Names are exact; wildcards are refused. */
      on?: Record<string, string>;
      /** A final state is never left, whatever its `on` says. */
      type?: 'final';
    }
  >;
}

/** The state names of a config: literals where the config is one, `string` where it is typed `FsmConfig`. */
export type StateOf<C extends FsmConfig> = C extends { states: infer States } ? keyof States & string : never;

/** The event names of a config: literals where the config is one, `string` where it is typed `FsmConfig`. */
export type EventOf<C extends FsmConfig> = {
  [S in keyof C['states']]: C['states'][S] extends { on?: infer On } ? keyof NonNullable<On> & string : never;
}[keyof C['states']];
