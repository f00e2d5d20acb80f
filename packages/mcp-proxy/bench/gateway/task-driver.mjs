// Runs the same tasks on one proxy in a process of its own, prints what it saw as JSON, then times calls as asked. Plain JavaScript, since it is also run
// where the other proxy is installed: `node|tsx task-driver.mjs <ours|pi> <module> <input.json>`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [which, modulePath, inputPath] = process.argv.slice(2);
const { servers, lazyServers, steps, call, stateFolder } = JSON.parse(readFileSync(inputPath, 'utf8'));
const loaded = await import(modulePath);

async function ours(entries) {
  const opened = await loaded.openProxy({ config: { mcpServers: entries }, stateFolder });
  const tool = opened.proxy.asTool();
  return {
    definition: { name: tool.name, description: tool.description, inputSchema: tool.parameters },
    ask: (args) => tool.execute(args),
    call: ({ server, tool: name, args }) => tool.execute({ tool: name, server, args }),
    connect: (server) => tool.execute({ connect: server }),
    close: () => opened.close(),
  };
}

// An extension of a coding agent; this is the least of that agent that it runs in.
async function pi(entries) {
  const handlers = new Map();
  const tools = [];
  const nothing = new Proxy({}, { get: () => () => undefined });
  const agent = {
    on: (name, handler) => handlers.set(name, [...(handlers.get(name) ?? []), handler]),
    registerTool: (tool) => tools.push(tool),
    getAllTools: () => tools,
    getActiveTools: () => tools.map(({ name }) => name),
    events: { on: () => () => undefined, emit: () => undefined },
  };
  const known = new Proxy(agent, { get: (target, key) => target[key] ?? (() => undefined) });
  const session = { getSessionId: () => 'bench', getEntries: () => [], getBranch: () => [] };
  const context = {
    hasUI: false,
    mode: 'print',
    cwd: process.cwd(),
    ui: nothing,
    sessionManager: session,
    isProjectTrusted: () => true,
  };
  await loaded.createMcpAdapter({ config: { mcpServers: entries } })(known);
  for (const handler of handlers.get('session_start') ?? [])
    await handler({ type: 'session_start', reason: 'startup' }, context);
  const tool = tools.find(({ name }) => name === 'mcp');
  const ask = async (args) => {
    const { content } = await tool.execute('bench', args, undefined, undefined, context);
    return content.map((block) => block.text ?? block.type).join('\n');
  };
  return {
    definition: { name: tool.name, description: tool.description, inputSchema: tool.parameters },
    ask,
    call: ({ server, tool: name, args }) => ask({ tool: name, server, args: JSON.stringify(args) }),
    connect: (server) => ask({ connect: server }),
    close: async () => {
      for (const handler of handlers.get('session_shutdown') ?? []) await handler({}, context);
    },
  };
}

const open = which === 'ours' ? ours : pi;
const children = () =>
  execFileSync('ps', ['-eo', 'ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes('scripted-upstream')).length;

const lazyStart = process.hrtime.bigint();
const lazy = await open(lazyServers);
await lazy.ask({});
const lazyMs = Number(process.hrtime.bigint() - lazyStart) / 1e6;
const started = children();
await lazy.close();

const proxy = await open(servers);
for (const server of Object.keys(servers)) await proxy.connect(server);
let hits = 0;
let empty = 0;
for (const { query, gold } of steps) {
  const answer = await proxy.ask({ search: query });
  // What an agent sees first: five tools, in the order in which they are printed.
  const places = gold
    .map((name) => answer.search(new RegExp(`(?:^|[^a-z-])(?:[a-z]+_)?${name}(?![a-z_-])`, 'm')))
    .filter((at) => at >= 0);
  const names = answer.match(/^(?:- )?[a-z-]+(?:_|: )[a-z_-]+/gm) ?? [];
  if (names.length === 0) empty += 1;
  if (
    places.length > 0 &&
    answer
      .slice(0, Math.min(...places))
      .split('\n')
      .filter((line) => names.some((name) => line.startsWith(name))).length < 5
  )
    hits += 1;
}
const report = { definition: proxy.definition, lazyMs, started, hits, empty };
process.stdout.write(`\nREPORT ${JSON.stringify(report)}\n`);

// Each line on stdin asks for one round of calls, so that two proxies can take turns on a busy machine.
for await (const line of createInterface({ input: process.stdin })) {
  const times = [];
  for (let index = 0; index < Number(line); index += 1) {
    const start = process.hrtime.bigint();
    await proxy.call(call);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  process.stdout.write(`TIMES ${JSON.stringify(times)}\n`);
}
await proxy.close();
process.exit(0);
