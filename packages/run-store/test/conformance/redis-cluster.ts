/** A real Redis Cluster of three masters on free loopback ports. */
import { freePort, type RedisServer, startRedis } from '@mcp-interlock/test-kit/redis';
import { Redis } from 'ioredis';

export interface RedisCluster {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const MASTERS = 3;

export async function startCluster(): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  for (let master = 0; master < MASTERS; master += 1) {
    // The port of the bus is given, since its default (port + 10000) may not exist.
    const bus = await freePort();
    servers.push(await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-port', `${bus}`] }));
  }
  const admins = servers.map(({ url }) => new Redis(url));
  try {
    const share = Math.ceil(SLOTS / MASTERS);
    for (const [master, admin] of admins.entries()) {
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', master * share, Math.min(SLOTS, (master + 1) * share) - 1);
    }
    for (const { host, port } of servers.slice(1)) {
      const bus = await busPortOf(`redis://${host}:${port}`);
      await admins[0]!.call('CLUSTER', 'MEET', host, port, bus);
    }
    await Promise.all(admins.map(agreed));
  } finally {
    for (const admin of admins) admin.disconnect();
  }
  return {
    nodes: servers.map(({ host, port }) => ({ host, port })),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function busPortOf(url: string): Promise<number> {
  const client = new Redis(url);
  const [, port] = (await client.config('GET', 'cluster-port')) as string[];
  client.disconnect();
  return Number(port);
}

/** Asks until the node knows all masters and all slots; gossip takes about a second. */
async function agreed(admin: Redis): Promise<void> {
  for (;;) {
    const info = String(await admin.call('CLUSTER', 'INFO'));
    if (info.includes('cluster_state:ok') && info.includes(`cluster_size:${MASTERS}`)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
