/** The entries of the package are one package: what two of them share is the same thing. */
import { describe, expect, test } from 'vitest';

// By the names that users import, so that what is published is asked.
const [core, sessions, verify, diagram, audit, mcp, redis, xstate] = await Promise.all([
  import('@mcp-interlock/fsm-gate'),
  import('@mcp-interlock/fsm-gate/sessions'),
  import('@mcp-interlock/fsm-gate/verify'),
  import('@mcp-interlock/fsm-gate/diagram'),
  import('@mcp-interlock/fsm-gate/audit'),
  import('@mcp-interlock/fsm-gate/mcp'),
  import('@mcp-interlock/fsm-gate/redis'),
  import('@mcp-interlock/fsm-gate/xstate'),
]);

const states = { initial: 'open', states: { open: { on: { GO: 'done' } }, done: { type: 'final' } } } as const;

describe('the entries', () => {
  test('have no value in common: each name has one home', () => {
    const names = [core, sessions, verify, diagram, audit, mcp, redis, xstate].flatMap((entry) => Object.keys(entry));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test('throw errors of the one class that the core exports', async () => {
    const gate = new core.StateMachineGate<import('@mcp-interlock/fsm-gate').FsmConfig>(states);
    gate.bindTool('go', 'open', 'GO').bindTool('lost', 'nowhere');
    const thrown = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return error;
      }
    };
    const errors = [
      thrown(() => sessions.createGateSessions({ gate, tools: ['go', 'lost'] })),
      thrown(() => verify.assertSound(gate, ['go', 'lost'])),
      thrown(() => audit.createAuditChain({ key: 'short', write: () => {} })),
      thrown(() => redis.redisGateStore({ client: {} as never })),
      thrown(() => xstate.machineGate({} as never)),
    ];
    for (const error of errors) expect(error).toBeInstanceOf(core.GateError);
  });

  test('report an effect that was not recorded by the class that the core exports', async () => {
    const gate = new core.StateMachineGate(states).bindTool('go', 'open', 'GO');
    const held = sessions.createGateSessions({ gate });
    const run = held.run('one', 'go', {}, async () => held.reset('one', { by: 'test', reason: 'cut the lease' }));
    await expect(run).rejects.toBeInstanceOf(core.EffectNotRecordedError);
  });
});
