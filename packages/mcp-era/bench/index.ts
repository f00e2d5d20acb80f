/**
 * What an era cache and single flight are worth, against `versionNegotiation: 'auto'` of the official client in the same
 * run. Over stdio the first `tools/list` is part of what is measured, since a connect that costs no round trip would
 * only move the server's start into the first request; over HTTP both are shown.
 */
import { spawn } from 'node:child_process';
import { compare, printTable } from '@mcp-interlock/test-kit/bench';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connectClient, type EraTarget } from '../src/client.js';
import { createEraResolver } from '../src/index.js';
import { StdioTransport, type StdioTransportOptions } from '../src/stdio.js';
import { type HttpServerKind, startServer, stdioFixture } from '../test/servers.js';

const INFO = { name: 'bench', version: '1.0.0' };
const auto = (): Client => new Client(INFO, { versionNegotiation: { mode: 'auto' } });

/** Connections over HTTP stay open until their suite is over; over stdio, closing is part of each case alike. */
const open: { close(): Promise<unknown> }[] = [];
async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

async function withAuto(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Client> {
  const client = auto();
  await client.connect(transport);
  open.push(client);
  return client;
}

async function withOurs(target: EraTarget, resolver = createEraResolver()): Promise<Client> {
  const connection = await connectClient(target, { client: new Client(INFO), resolver, probeTimeoutMs: 60_000 });
  open.push(connection);
  return connection.client;
}

const yesNo = (met: boolean): string => (met ? 'yes' : 'NO');

async function countProbes(): Promise<void> {
  const rows: string[][] = [];
  for (const kind of ['v2-dual', 'v1-stateless'] as const) {
    const server = await startServer(kind);
    const target = { type: 'streamable-http', url: server.url } as const;
    const clients = Array.from({ length: 100 });
    await Promise.all(clients.map(() => withAuto(new StreamableHTTPClientTransport(new URL(server.url)))));
    const theirs = server.count('server/discover');
    const resolver = createEraResolver();
    await Promise.all(clients.map(() => withOurs(target, resolver)));
    const ours = server.count('server/discover') - theirs;
    rows.push([kind, String(theirs), String(ours), '1 against ≥ 100', yesNo(ours === 1 && theirs >= 100)]);
    await closeAll();
    await server.close();
  }
  printTable(
    'Questions asked by 100 clients that connect to one origin at once',
    ['server', "SDK 'auto'", 'mcp-era', 'target', 'met'],
    rows,
  );
}

async function timeHttp(kind: HttpServerKind, first: 'nothing' | 'tools/list'): Promise<void> {
  const server = await startServer(kind);
  const target = { type: 'streamable-http', url: server.url } as const;
  const resolver = createEraResolver();
  await withOurs(target, resolver);
  const tenTimes = async (connect: () => Promise<Client>): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      const client = await connect();
      if (first === 'tools/list') await client.listTools();
    }
  };
  await compare({
    title: `Connect over HTTP${first === 'tools/list' ? ' and list tools' : ''}, ${kind}`,
    baseline: "SDK 'auto'",
    operations: 10,
    rounds: 15,
    cases: {
      "SDK 'auto'": () => tenTimes(() => withAuto(new StreamableHTTPClientTransport(new URL(server.url)))),
      'mcp-era, cold': () => tenTimes(() => withOurs(target)),
      'mcp-era, warm': () => tenTimes(() => withOurs(target, resolver)),
    },
    // A legacy handshake is two requests of three, and the list one of two, that no verdict can save.
    targets: kind === 'v2-dual' && first === 'nothing' ? { 'mcp-era, warm': { kind: 'time', max: 0.6 } } : {},
  });
  await closeAll();
  await server.close();
}

async function timeStdio(name: 'v1-stdio' | 'v2-stdio'): Promise<void> {
  const server = stdioFixture(name);
  const target = { type: 'stdio', ...server } as const;
  const resolver = createEraResolver();
  const once = async (connect: () => Promise<Client>): Promise<void> => {
    await (await connect()).listTools();
    await closeAll();
  };
  await once(() => withOurs(target, resolver));
  await compare({
    title: `Connect over stdio and list tools, ${name}`,
    baseline: "SDK 'auto'",
    rounds: 15,
    cases: {
      "SDK 'auto'": () => once(() => withAuto(new StdioClientTransport(server))),
      'mcp-era, cold': () => once(() => withOurs(target)),
      'mcp-era, warm': () => once(() => withOurs(target, resolver)),
    },
    targets: { 'mcp-era, warm': { kind: 'time', max: 0.6 } },
  });
}

async function countSpawns(): Promise<void> {
  const rows: string[][] = [];
  for (const name of ['v1-stdio', 'v2-stdio'] as const) {
    const { command, args } = stdioFixture(name);
    let ours = 0;
    const counting: StdioTransportOptions['spawn'] = (...start) => {
      ours++;
      return spawn(...start);
    };
    const resolver = createEraResolver();
    await withOurs(
      {
        type: 'transport',
        kind: 'stdio',
        key: name,
        createTransport: () => new StdioTransport({ command, args, spawn: counting }),
      },
      resolver,
    );
    await closeAll();
    const theirs = await spawnsOfAuto(command, args);
    rows.push([name, String(theirs), String(ours), '1 against 2', yesNo(ours === 1 && theirs === 2)]);
  }
  printTable(
    'Processes started to connect once over stdio',
    ['server', "SDK 'auto'", 'mcp-era', 'target', 'met'],
    rows,
  );
}

/** Counted at the class, since `auto` makes the sibling by itself. */
async function spawnsOfAuto(command: string, args: string[]): Promise<number> {
  let spawns = 0;
  const start = StdioClientTransport.prototype.start;
  StdioClientTransport.prototype.start = function (this: StdioClientTransport) {
    spawns++;
    return start.call(this);
  };
  try {
    await withAuto(new StdioClientTransport({ command, args }));
    await closeAll();
  } finally {
    StdioClientTransport.prototype.start = start;
  }
  return spawns;
}

await countProbes();
await countSpawns();
await timeHttp('v2-dual', 'nothing');
await timeHttp('v2-dual', 'tools/list');
await timeHttp('v1-stateless', 'nothing');
for (const name of ['v2-stdio', 'v1-stdio'] as const) await timeStdio(name);
