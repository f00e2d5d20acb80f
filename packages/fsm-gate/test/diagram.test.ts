import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import type { Mermaid } from 'mermaid';
import { beforeAll, describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { toMermaid } from '../src/diagram.js';
import { type FsmConfig, StateMachineGate } from '../src/index.js';
import { machineGate } from '../src/xstate.js';

let mermaid: Mermaid;
beforeAll(async () => {
  // The parser sanitises labels with DOMPurify, which needs a document.
  const { window } = new JSDOM('');
  Object.assign(globalThis, { window, document: window.document });
  ({ default: mermaid } = await import('mermaid'));
});

/** The real parser accepts it; it throws otherwise. */
const parses = async (diagram: string) =>
  expect(await mermaid.parse(diagram)).toMatchObject({ diagramType: 'stateDiagram' });

const checkout = () =>
  new StateMachineGate({
    id: 'checkout',
    initial: 'empty',
    states: {
      empty: { on: { ADD_ITEM: 'has_items' } },
      has_items: { on: { CHECKOUT: 'payment', CLEAR: 'empty' } },
      payment: { on: { PAY: 'confirmed', CANCEL: 'has_items' } },
      confirmed: { type: 'final' },
    },
  })
    .bindTool('cart_add_item', ['empty'], 'ADD_ITEM')
    .bindTool('cart_checkout', 'has_items', 'CHECKOUT')
    .bindTool('cart_show', ['has_items', 'payment'])
    .bindTool('cart_pay', 'payment', 'PAY');

describe('the diagram of a flat gate', () => {
  test('is accepted by Mermaid where a state has no name at all', async () => {
    const gate = new StateMachineGate<FsmConfig>({ initial: '', states: { '': { on: { GO: 'on' } }, on: {} } });
    await parses(toMermaid(gate, { current: '' }));
  });

  test('is accepted by Mermaid and names states, events and tools', async () => {
    const diagram = toMermaid(checkout(), { current: 'payment', direction: 'LR' });
    await parses(diagram);
    expect(diagram).toMatchInlineSnapshot(`
      "stateDiagram-v2
        direction LR
        [*] --> s0
        state "empty" as s0
        state "has_items" as s1
        state "payment" as s2
        state "confirmed" as s3
        s3 --> [*]
        s0 --> s1 : ADD_ITEM by cart_add_item
        s1 --> s2 : CHECKOUT by cart_checkout
        s1 --> s0 : CLEAR
        s2 --> s3 : PAY by cart_pay
        s2 --> s1 : CANCEL
        note right of s1 : open#58; cart_show
        note right of s2 : open#58; cart_show
        classDef current fill:#fde68a,stroke:#b45309,font-weight:bold
        class s2 current
      "
    `);
  });

  test('marks the state of a snapshot', () => {
    expect(toMermaid(checkout(), { current: { state: 'has_items' } })).toContain('class s1 current');
  });

  test('of a state that is not there marks nothing', async () => {
    const diagram = toMermaid(checkout(), { current: 'nowhere' });
    expect(diagram).not.toContain('current');
    await parses(diagram);
  });

  test('is accepted whatever its names are', async () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom(
        'end note',
        'state',
        '"',
        '-->',
        ': x',
        '[*]',
        '%%',
        '#35;',
        'a\nb',
        'classDef',
        '{',
        '<b>',
        '`',
        '--',
      ),
    );
    const configs = fc
      .uniqueArray(name, { minLength: 1, maxLength: 5 })
      .chain((states) =>
        fc.record({
          states: fc.constant(states),
          edges: fc.array(fc.tuple(fc.constantFrom(...states), name, fc.constantFrom(...states)), { maxLength: 8 }),
          tools: fc.array(fc.tuple(name, fc.constantFrom(...states)), { maxLength: 4 }),
        }),
      )
      // `__proto__` cannot be written as a key of a literal, and wildcards are refused by the gate.
      .filter(({ states, edges }) => !JSON.stringify([states, edges]).match(/__proto__|\*/));
    await fc.assert(
      fc.asyncProperty(configs, async ({ states, edges, tools }) => {
        const config: FsmConfig = {
          initial: states[0]!,
          states: Object.fromEntries(
            states.map((state) => [
              state,
              { on: Object.fromEntries(edges.filter(([from]) => from === state).map(([, event, to]) => [event, to])) },
            ]),
          ),
        };
        const gate = new StateMachineGate(config);
        for (const [tool, state] of tools) gate.bindTool(tool, state);
        await parses(toMermaid(gate, { current: states[0]! }));
      }),
      { numRuns: 60 },
    );
  });
});

describe('the diagram of a machine', () => {
  const machine = createMachine({
    id: 'shop',
    initial: 'browsing',
    states: {
      browsing: { on: { START: 'checkout', RESUME: 'checkout.hist' } },
      checkout: {
        type: 'parallel',
        states: {
          cart: {
            initial: 'empty',
            states: { empty: { on: { ADD: 'full' } }, full: { on: { CLEAR: { target: 'empty', guard: () => true } } } },
          },
          pay: { initial: 'open', states: { open: { on: { PAY: 'paid' } }, paid: { type: 'final' } } },
          hist: { type: 'history' },
        },
        on: { LEAVE: '#shop.done' },
      },
      done: { type: 'final' },
    },
  });

  test('nests its states, separates parallel regions and is accepted by Mermaid', async () => {
    const gate = machineGate(machine).bindTool('add', 'checkout.cart.empty' as never, 'ADD' as never);
    const diagram = toMermaid(gate, { current: 'checkout.(cart.full|pay.open)' });
    await parses(diagram);
    expect(diagram).toMatchInlineSnapshot(`
      "stateDiagram-v2
        [*] --> s0
        state "browsing" as s0
        state "checkout" as s1 {
          state "H hist" as s8
          state "cart" as s2 {
            [*] --> s3
            state "empty" as s3
            state "full" as s4
          }
          --
          state "pay" as s5 {
            [*] --> s6
            state "open" as s6
            state "paid" as s7
            s7 --> [*]
          }
        }
        state "done" as s9
        s9 --> [*]
        s0 --> s1 : START
        s0 --> s8 : RESUME
        s1 --> s9 : LEAVE
        s3 --> s4 : ADD by add
        s4 --> s3 : CLEAR (if guarded)
        s6 --> s7 : PAY
        classDef current fill:#fde68a,stroke:#b45309,font-weight:bold
        class s4 current
        class s6 current
      "
    `);
  });
});

test('something that is no gate is refused with a clear error', () => {
  expect(() => toMermaid({ model: checkout().model })).toThrow('toMermaid draws a StateMachineGate');
});
