import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { getSimplePaths } from 'xstate/graph';
import { type FsmConfig, StateMachineGate } from '../src/index.js';
import { assertSound, explorePaths, verifyGate } from '../src/verify/index.js';
import { configs } from './arbitraries.js';
import { aCheckoutGate } from './helpers.js';

const TOOLS = ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_view'];

function found(config: FsmConfig, bind: (gate: StateMachineGate) => void = () => undefined, tools?: string[]) {
  const gate = new StateMachineGate(config);
  bind(gate);
  return verifyGate(gate, tools ? { tools } : {}).map(({ severity, code, tool, state, event }) =>
    [severity, code, tool ?? state ?? event].join(' '),
  );
}

const LINE: FsmConfig = { initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final' } } };

describe('verifyGate', () => {
  it('finds nothing worse than an information in a gate that is right', () => {
    expect(verifyGate(aCheckoutGate(), { tools: TOOLS }).filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(() => assertSound(aCheckoutGate(), TOOLS)).not.toThrow();
  });

  it('passes the example of the contract, whose add tool does nothing in one of its states', () => {
    const gate = new StateMachineGate({
      initial: 'empty',
      states: { empty: { on: { ADD: 'full' } }, full: { on: { OUT: 'done' } }, done: { on: { RESET: 'empty' } } },
    }).bindTool('add', ['empty', 'full'], 'ADD');
    expect(() => assertSound(gate, ['add'])).not.toThrow();
  });

  it('names states that cannot be reached', () => {
    expect(found({ initial: 'a', states: { a: { type: 'final' }, island: { type: 'final' } } })).toEqual([
      'warning unreachable-state island',
    ]);
  });

  it('names dead ends', () => {
    expect(found({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } })).toContain('warning dead-end b');
  });

  it('names states with no way to a final one', () => {
    const states = {
      a: { on: { IN: 'loop', OUT: 'end' } },
      loop: { on: { ROUND: 'loop' } },
      end: { type: 'final' },
    } as const;
    expect(found({ initial: 'a', states })).toContain('warning no-way-to-final loop');
    expect(found({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { on: { GO: 'a' } } } }).join()).not.toContain(
      'final',
    );
  });

  it('names tools that are never visible', () => {
    const findings = found({ initial: 'a', states: { a: {}, island: {} } }, (gate) =>
      gate.bindTool('stranded', ['island']).bindTool('nowhere', []),
    );
    expect(findings).toContain('error tool-never-visible stranded');
    expect(findings).toContain('error tool-never-visible nowhere');
  });

  it('names tools bound to states that do not exist', () => {
    expect(found(LINE, (gate) => gate.bindTool('pay', ['paymnet', 'a']))).toContain('error unknown-state pay');
  });

  it('names tools that are bound but not registered, and tells which are not gated', () => {
    const findings = found(LINE, (gate) => gate.bindTool('cart_ad', ['a'], 'GO'), ['cart_add']);
    expect(findings).toContain('error tool-not-registered cart_ad');
    expect(findings).toContain('info tool-not-gated cart_add');
  });

  it('names events that no tool sends', () => {
    expect(found(LINE)).toContain('info event-without-tool GO');
    expect(found(LINE, (gate) => gate.bindTool('go', 'a', 'GO'))).not.toContain('info event-without-tool GO');
  });

  it('names events that no state knows', () => {
    expect(found(LINE, (gate) => gate.bindTool('go', 'a', 'GOO'))).toContain('error unknown-event go');
  });

  it('names events that are not accepted in a state where the tool is open', () => {
    expect(found(LINE, (gate) => gate.bindTool('go', ['a', 'b'], 'GO'))).toContain('warning event-not-accepted go');
  });

  it('asks of several events only that one is accepted', () => {
    const binding = { event: ['GO', 'LATER'], eventFor: () => 'GO' };
    const states = { a: { on: { GO: 'b' } }, b: { on: { LATER: 'end' } }, end: { type: 'final' } } as const;
    expect(found({ initial: 'a', states }, (gate) => gate.bindTool('go', ['a', 'b'], binding))).toEqual([]);
  });

  it('names tools that were bound twice, once', () => {
    const twice = (gate: StateMachineGate) => gate.bindTool('go', 'a').bindTool('go', 'a').bindTool('go', 'a', 'GO');
    expect(found(LINE, twice)).toEqual(['warning duplicate-binding go']);
  });

  it('says what to do, and puts errors first', () => {
    const gate = new StateMachineGate(LINE);
    gate.bindTool('go', ['a', 'b'], 'GOO' as 'GO');
    const findings = verifyGate(gate, { tools: [] });
    expect(findings.every(({ message, fix }) => message.length > 0 && fix.length > 0)).toBe(true);
    const order = findings.map(({ severity }) => ['error', 'warning', 'info'].indexOf(severity));
    expect(order).toEqual([...order].sort());
  });

  it('says when it did not look at everything', () => {
    expect(verifyGate(new StateMachineGate(LINE), { limit: 1 }).map(({ code }) => code)).toContain(
      'not-fully-explored',
    );
  });

  it('never throws, whatever the machine', () => {
    fc.assert(
      fc.property(configs, fc.array(fc.string()), (config, tools) => {
        verifyGate(new StateMachineGate(config), { tools });
      }),
    );
  });
});

describe('explorePaths', () => {
  it('gives each step its state, event, tools and target', () => {
    const paths = [...explorePaths(aCheckoutGate())];
    const pay = paths.find(({ end, steps }) => end === 'confirmed' && steps.length === 3);
    expect(pay?.steps).toEqual([
      { from: 'empty', event: 'ADD_ITEM', tools: ['cart_add_item'], to: 'has_items' },
      { from: 'has_items', event: 'CHECKOUT', tools: ['cart_checkout'], to: 'payment' },
      { from: 'payment', event: 'PAY', tools: ['cart_pay'], to: 'confirmed' },
    ]);
  });

  it('can be kept short', () => {
    const lengths = [...explorePaths(aCheckoutGate(), { maxSteps: 2 })].map(({ steps }) => steps.length);
    expect(Math.max(...lengths)).toBe(2);
  });

  it('finds the very paths that xstate/graph finds', () => {
    fc.assert(
      fc.property(configs, (config) => {
        const names = Object.keys(config.states);
        const alias = (name: string): string => `s${names.indexOf(name)}`;
        const states = Object.fromEntries(
          Object.entries(config.states).map(([name, { on = {}, type }]) => [
            alias(name),
            // The graph's pure steps leave final states, which no actor does.
            type ? { type } : { on: Object.fromEntries(Object.entries(on).map(([e, to]) => [e, alias(to)])) },
          ]),
        );
        const theirs = getSimplePaths(createMachine({ initial: alias(config.initial), states }))
          .map(({ steps }) => steps.map(({ event }) => event.type).filter((type) => type !== 'xstate.init'))
          .filter((path) => path.length > 0);
        const ours = [...explorePaths(new StateMachineGate(config))].map(({ steps }) =>
          steps.map(({ event }) => event),
        );
        const sorted = (paths: string[][]): string[] => paths.map((path) => JSON.stringify(path)).sort();
        expect(sorted(ours)).toEqual(sorted(theirs));
      }),
      { numRuns: 200 },
    );
  });
});
