import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type FsmConfig, openTools, refusalText, StateMachineGate, wayTo } from '../src/index.js';
import { explorePaths } from '../src/verify/index.js';
import { configs } from './arbitraries.js';
import { aCheckoutGate } from './helpers.js';

const at = (state: string) => ({ state, updatedAt: 0 });

describe('a decision', () => {
  const { model } = aCheckoutGate();

  it('is data that survives JSON', () => {
    const decision = decide(model, at('empty'), 'cart_pay');
    expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
  });

  it('about an open tool names the events that it may send', () => {
    expect(decide(model, at('payment'), 'cart_pay')).toEqual({
      kind: 'allowed',
      tool: 'cart_pay',
      state: 'payment',
      events: ['PAY'],
    });
  });

  it('says that nothing opens a tool where nothing does', () => {
    const decision = decide(model, at('confirmed'), 'cart_pay');
    expect(decision).toMatchObject({ kind: 'refused', reason: 'closed', wayIn: undefined, openTools: [] });
  });
});

describe('the words of a refusal', () => {
  const { model } = aCheckoutGate();
  const words = (state: string, tool: string): string => {
    const decision = decide(model, at(state), tool);
    if (decision.kind === 'allowed') throw new Error('allowed');
    return refusalText(decision);
  };

  it('lead on', () => {
    expect(words('empty', 'cart_pay')).toBe(
      'Tool cart_pay is not available in state empty. Call cart_add_item, then cart_checkout first. Available now: cart_add_item.',
    );
  });

  it('say that nothing leads on', () => {
    expect(words('confirmed', 'cart_pay')).toBe(
      'Tool cart_pay is not available in state confirmed. No sequence of calls opens it from here. Available now: none.',
    );
  });

  it('name the reason of a guard, and who is in the way', () => {
    const refusal = { kind: 'refused', tool: 'pay', state: 'open', openTools: ['pay'] } as const;
    expect(refusalText({ ...refusal, reason: 'arguments', detail: 'amount is over 100' })).toContain(
      'amount is over 100',
    );
    expect(refusalText({ ...refusal, reason: 'busy', holder: 'ship', retryAfterMs: 10 })).toContain(
      'ship is still running',
    );
  });
});

/** A gate in which tool `to:S` is open in S only, and tool `do:E` sends E in every state. */
function aGateOfTools(config: FsmConfig): StateMachineGate {
  const gate = new StateMachineGate(config);
  const states = Object.keys(config.states);
  const events = new Set(states.flatMap((state) => Object.keys(config.states[state]?.on ?? {})));
  for (const event of events) gate.bindTool(`do:${event}`, states, event);
  for (const state of states) gate.bindTool(`to:${state}`, state);
  return gate;
}

describe('the way to a closed tool', () => {
  it('opens it when it is walked, and no simple path is shorter', () => {
    fc.assert(
      fc.property(configs, (config) => {
        const gate = aGateOfTools(config);
        const { model } = gate;
        const paths = [...explorePaths(gate)];
        for (const state of Object.keys(config.states)) {
          if (state === gate.currentState) continue;
          const way = wayTo(model, gate.snapshot(), `to:${state}`);
          const lengths = paths.filter(({ end }) => end === state).map(({ steps }) => steps.length);
          expect(way?.length).toBe(lengths.length ? Math.min(...lengths) : undefined);
          if (!way) continue;
          const walker = gate.clone();
          for (const tool of way) {
            expect(openTools(model, walker.snapshot())).toContain(tool);
            walker.transitionNow(walker.getTransitionEvent(tool) ?? '');
          }
          expect(walker.isToolAllowed(`to:${state}`)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});
