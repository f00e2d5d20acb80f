/** Reserve and commit on Redis against two raw commands, and how many round trips they take. */
import { compare } from '@mcp-interlock/test-kit/bench';
import { findRedis, startRedis } from '@mcp-interlock/test-kit/redis';
import { startTcpProxy } from '@mcp-interlock/test-kit/tcp-proxy';
import { Redis } from 'ioredis';
import { StateMachineGate } from '../src/index.js';
import { redisGateStore } from '../src/redis.js';
import { createGateSessions } from '../src/sessions/index.js';

const OPERATIONS = 100;

export async function benchRedis(): Promise<void> {
  const found = findRedis();
  if (found.kind === 'missing') {
    console.log(`\nreserve + commit on Redis: skipped, ${found.reason}`);
    return;
  }
  const server = found.kind === 'binary' ? await startRedis() : undefined;
  const url = new URL(server?.url ?? (found.kind === 'url' ? found.url : ''));
  const proxy = await startTcpProxy({ target: { host: url.hostname, port: Number(url.port || 6379) } });
  const client = new Redis(url.href);
  const proxied = new Redis(proxy.port, proxy.host);
  try {
    const prefix = `interlock:bench:${crypto.randomUUID()}:`;
    const sessions = aSwitch(client, prefix);
    await compare({
      title: 'a call that moves its session, on Redis',
      baseline: 'two raw commands (HMGET, HSET)',
      operations: OPERATIONS,
      cases: {
        'two raw commands (HMGET, HSET)': async () => {
          for (let at = 0; at < OPERATIONS; at += 1) {
            await client.hmget(`${prefix}raw`, 's', 'v');
            await client.hset(`${prefix}raw`, 's', '{"state":"on","updatedAt":1796023191549}', 'v', String(at));
          }
        },
        'reserve + commit': async () => {
          for (let at = 0; at < OPERATIONS; at += 1) await sessions.run('ann', 'toggle', {}, () => 1);
        },
      },
    });

    const counted = aSwitch(proxied, `${prefix}counted:`);
    await counted.run('ann', 'toggle', {}, () => 1);
    const before = proxy.roundTrips;
    for (let at = 0; at < OPERATIONS; at += 1) await counted.run('ann', 'toggle', {}, () => 1);
    const trips = (proxy.roundTrips - before) / OPERATIONS;
    console.log(`round trips of reserve + commit: ${trips} (target 2: ${trips === 2 ? 'met' : 'missed'})`);
  } finally {
    client.disconnect();
    proxied.disconnect();
    await proxy.stop();
    await server?.stop();
  }
}

function aSwitch(client: Redis, prefix: string) {
  const gate = new StateMachineGate({
    initial: 'off',
    states: { off: { on: { TOGGLE: 'on' } }, on: { on: { TOGGLE: 'off' } } },
  }).bindTool('toggle', ['off', 'on'], 'TOGGLE');
  return createGateSessions({ gate, store: redisGateStore({ client, prefix }) });
}
