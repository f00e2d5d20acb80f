/**
 * Figures of real upstreams: what their tool lists cost an agent beside the one definition, and what a call costs.
 * `tsx bench/upstreams.ts` takes the servers that are installed here; `--published` those that npx fetches as well.
 */
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createNodeProvider, openProxy, parseConfig } from '../src/node/index.js';
import { installedServers } from '../test/fixtures/installed-servers.js';
import { aFolder, scripted } from '../test/fixtures/scripted.js';
import { entryOf, publishedServers } from '../test/published/servers.js';
import { compareLatencies } from './gateway/latency.js';

const folder = await aFolder();
const entries: Record<string, Record<string, unknown>> = process.argv.includes('--published')
  ? Object.fromEntries(
      publishedServers(folder).map((server) => [server.name, entryOf(server, join(homedir(), '.npm'))]),
    )
  : installedServers(folder);

const met = [await tokens(), await inProcessCall(), await gatewayCost(), await lazyStart()].every(Boolean);
process.exitCode = met ? 0 : 1;

/** Tokens of all tool lists, as a host that connects every server puts them into its prompt, against the one definition. */
async function tokens(): Promise<boolean> {
  const opened = await openProxy({ config: { mcpServers: entries }, stateFolder: join(folder, 'tokens') });
  let eager = 0;
  let tools = 0;
  console.log('\nTokens of tool definitions (o200k)\n\nserver                tools   tokens');
  for (const server of Object.keys(entries)) {
    const answer = await opened.proxy.perform({ kind: 'connect', server });
    if (answer.kind !== 'connected') {
      console.log(`${server.padEnd(20)}      –   could not be started`);
      continue;
    }
    const listed = answer.tools.map(({ tool: { name, description, inputSchema } }) => ({
      name,
      description,
      inputSchema,
    }));
    const cost = countTokens(JSON.stringify(listed));
    eager += cost;
    tools += listed.length;
    console.log(`${server.padEnd(20)} ${String(listed.length).padStart(6)} ${String(cost).padStart(8)}`);
  }
  const { name, description, parameters } = opened.proxy.asTool();
  const one = countTokens(JSON.stringify({ name, description, inputSchema: parameters }));
  console.log(`${'all of them'.padEnd(20)} ${String(tools).padStart(6)} ${String(eager).padStart(8)}`);
  console.log(
    `${'the mcp tool'.padEnd(20)} ${'1'.padStart(6)} ${String(one).padStart(8)}   (${(eager / one).toFixed(0)} times fewer; target ≤ 300)`,
  );
  await opened.close();
  return one <= 300;
}

/** `call` of the proxy against `client.callTool` of the SDK, on the same connection. */
async function inProcessCall(): Promise<boolean> {
  const opened = await openProxy({ config: { mcpServers: { up: scripted() } }, stateFolder: join(folder, 'call') });
  const connection = await opened.provider.connect('up');
  await connection.listTools();
  await connection.client.listTools();
  const args = { message: 'hi' };
  const met = await compareLatencies({
    title: 'One call over stdio, in this process',
    baseline: 'client.callTool',
    cases: {
      'client.callTool': () => connection.client.callTool({ name: 'echo', arguments: args }),
      'mcp tool, run': () => opened.proxy.run({ tool: 'echo', server: 'up', args }),
      'mcp tool, execute': () => opened.proxy.asTool().execute({ tool: 'echo', server: 'up', args }),
    },
    maxRatio: { 'mcp tool, run': 1.15 },
  });
  await opened.close();
  return met;
}

/** What the gateway adds: the same call through it over stdio, against the call straight to the upstream. */
async function gatewayCost(): Promise<boolean> {
  const { writeFile } = await import('node:fs/promises');
  const config = join(folder, 'gateway.json');
  await writeFile(config, JSON.stringify({ mcpServers: { up: scripted() } }));
  const bin = fileURLToPath(new URL('../bin/mcp-proxy.js', import.meta.url));
  const { servers } = parseConfig({
    mcpServers: {
      direct: scripted(),
      legacy: {
        command: process.execPath,
        args: [bin, '--config', config, '--state', join(folder, 's1')],
        protocol: 'legacy',
      },
      modern: {
        command: process.execPath,
        args: [bin, '--config', config, '--state', join(folder, 's2')],
        protocol: 'modern',
      },
    },
  });
  const provider = createNodeProvider(servers);
  const [direct, legacy, modern] = await Promise.all(
    ['direct', 'legacy', 'modern'].map((name) => provider.connect(name)),
  );
  const args = { message: 'hi' };
  const through = { tool: 'echo', server: 'up', args };
  await compareLatencies({
    title: 'One call over stdio, through the gateway process',
    baseline: 'straight to the upstream',
    cases: {
      'straight to the upstream': async () => direct?.callTool('echo', args),
      'gateway, 2025 era': async () => legacy?.callTool('mcp', through),
      'gateway, 2026 era': async () => modern?.callTool('mcp', through),
    },
  });
  await provider.closeAll();
  return true;
}

/** Twenty-five lazy servers: how long until the gateway answers, and how many processes that started. */
async function lazyStart(): Promise<boolean> {
  const lazy = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`s${index}`, scripted()]));
  const start = process.hrtime.bigint();
  const opened = await openProxy({ config: { mcpServers: lazy }, stateFolder: join(folder, 'lazy') });
  await opened.started;
  await opened.proxy.run({});
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  const children = await childrenOf(process.pid);
  console.log(
    `\n25 lazy servers: ready and status answered in ${ms.toFixed(1)} ms, ${children} upstreams started (target 0)`,
  );
  await opened.close();
  return children === 0;
}

async function childrenOf(pid: number): Promise<number> {
  const ps = spawn('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  for await (const chunk of ps.stdout) text += String(chunk);
  return text.split('\n').filter((line) => line.includes('scripted-upstream')).length;
}
