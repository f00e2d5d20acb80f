/**
 * One process that serves sessions on a shared Redis. It tells its parent each phase that it reaches, and stops in the one
 * that it was told to be killed in.
 */
import { Redis } from 'ioredis';
import { StateMachineGate } from '../../src/index.js';
import { redisGateStore } from '../../src/redis.js';
import { createGateSessions, type GateStore } from '../../src/sessions/index.js';
import type { FromWorker, Phase, ToWorker } from './messages.js';

const [url = '', prefix = '', leaseMs = '60000'] = process.argv.slice(2);
const client = new Redis(url);
// A blocking command would hold up the renewals on the same connection.
const blocking = new Redis(url);

let stopIn: Phase | undefined;

async function reach(phase: Phase): Promise<void> {
  tell({ kind: 'phase', phase });
  // Never resolves: the parent kills this process here.
  if (stopIn === phase) await new Promise(() => setInterval(() => undefined, 1_000));
}

function tell(message: FromWorker): void {
  process.send?.(message);
}

/** Announces the phases that lie inside the store. */
function announced(store: GateStore): GateStore {
  return {
    ...store,
    reserve: async (key, request) => {
      await reach('before the reservation');
      const outcome = await store.reserve(key, request);
      if (outcome.kind === 'granted') await reach('after the reservation');
      else if (outcome.kind === 'held') await reach('while it waits');
      return outcome;
    },
    renew: async (...args) => {
      const renewed = await store.renew(...args);
      await reach('after a renewal');
      return renewed;
    },
    commit: async (...args) => {
      await reach('before the commit');
      // Written to the socket, not yet answered.
      const sent = store.commit(...args);
      if (stopIn === 'in the commit') await reach('in the commit');
      const outcome = await sent;
      await reach('after the commit');
      return outcome;
    },
  };
}

const gate = new StateMachineGate({
  id: 'switch',
  initial: 'off',
  states: { off: { on: { ON: 'on' } }, on: { on: { OFF: 'off' } } },
})
  .bindTool('turn_on', 'off', 'ON')
  .bindTool('turn_off', 'on', 'OFF');

const sessions = createGateSessions({
  gate,
  store: announced(redisGateStore({ client, prefix })),
  leaseMs: Number(leaseMs),
  contention: { kind: 'wait', timeoutMs: 120_000, pollMs: 20 },
  onDecision: (record) => tell({ kind: 'record', record }),
});

process.on('message', async (message: ToWorker) => {
  if (message.do === 'exit') process.exit(0);
  const { id, key, tool, log } = message;
  stopIn = message.stopIn;
  try {
    const outcome = await sessions.run(key, tool, {}, async (call) => {
      await client.rpush(log, `begin ${call.fence}`);
      await reach('before the effect');
      await client.rpush(log, `effect ${call.fence}`);
      if (message.holdUntil) await blocking.blpop(message.holdUntil, 0);
      await reach('after the effect');
      await client.rpush(log, `end ${call.fence}`);
    });
    tell({ kind: 'outcome', id, outcome: outcome.kind });
  } catch (error) {
    tell({
      kind: 'outcome',
      id,
      outcome: error instanceof Error && 'code' in error ? String(error.code) : String(error),
    });
  }
});

tell({ kind: 'ready' });
