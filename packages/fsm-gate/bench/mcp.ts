/**
 * What the gate costs at the wire: lists against a bare filter, calls against the ungated server. It is measured as it is
 * published: the loader that runs this file would slow down ours and not the SDKs.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type FsmConfig, StateMachineGate } from '@mcp-interlock/fsm-gate';
import { attachGate } from '@mcp-interlock/fsm-gate/mcp';
import { createGateSessions, type GateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { compare } from '@mcp-interlock/test-kit/bench';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as TransportV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer as ServerV2, InMemoryTransport as TransportV2 } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type BareHandler, bareServer } from '../test/mcp/bare-server.js';

const TOOLS = 1_000;

/** A round is short and the machine is not alone: the median of many is steady where that of a few is not. */
const ROUNDS = 801;

function sessionsOf(bound: readonly string[]): GateSessions {
  const gate = new StateMachineGate<FsmConfig>({
    initial: 'open',
    states: { open: { on: { GO: 'open', LEAVE: 'away' } }, away: { on: { BACK: 'open' } } },
  });
  gate.bindTool('look', ['open', 'away']).bindTool('stay', 'open', 'GO');
  gate.bindTool('leave', 'open', 'LEAVE').bindTool('back', 'away', 'BACK');
  for (const [at, name] of bound.entries()) gate.bindTool(name, at % 2 === 0 ? 'open' : 'away');
  return createGateSessions({ gate });
}

async function benchLists(): Promise<void> {
  const tools = Array.from({ length: TOOLS }, (_, at) => ({ name: `tool_${at}`, inputSchema: { type: 'object' } }));
  const sessions = sessionsOf(tools.map(({ name }) => name));
  const open = new Set(tools.filter((_, at) => at % 2 === 0).map(({ name }) => name));
  const server = bareServer({ 'tools/list': () => ({ tools }) });
  attachGate(server, sessions, { check: 'off' });
  const gated = server._requestHandlers.get('tools/list') as BareHandler;
  const context = { signal: new AbortController().signal };
  const request = { method: 'tools/list', params: {} };
  const repeat = 40;
  await compare({
    title: `tools/list of ${TOOLS} tools`,
    baseline: 'bare filter with a Set',
    operations: repeat,
    rounds: ROUNDS,
    cases: {
      'bare filter with a Set': async () => {
        for (let at = 0; at < repeat; at += 1) {
          const result = await { tools };
          await { ...result, tools: result.tools.filter(({ name }) => open.has(name)) };
        }
      },
      'through the gate': async () => {
        for (let at = 0; at < repeat; at += 1) await gated(request, context);
      },
    },
    targets: { 'through the gate': { kind: 'time', max: 1.3 } },
  });
}

const input = { description: 'a step', inputSchema: z.object({ id: z.string() }) };
const answer = { content: [{ type: 'text' as const, text: 'done' }] };

/** What is called, by what the gate has to do for it. */
const CALLS = {
  'a tool that is not bound': ['free'],
  'a tool that moves nothing': ['look'],
  'a tool whose event leads back to its state': ['stay'],
  'tools that move the state to and fro': ['leave', 'back'],
  // As a session goes: a quarter of each kind.
  'all of these in turn': ['free', 'look', 'stay', 'leave', 'free', 'look', 'back', 'stay'],
} as const;

/**
 * A server of each kind has the same tools and the same kind of client; what stands before the tools is all that differs. `notifying`: no
 * gate, but the tools that would move the state send what a gate then has to send, gathered in the same way.
 */
type Kind = 'bare' | 'notifying' | 'gated';
type Caller = (tool: string) => Promise<unknown>;

const NAMES = new Set(Object.values(CALLS).flat());

/** What of a server is used here, of either generation. */
interface BenchServer {
  readonly server: { sendToolListChanged(): Promise<void> };
  register(name: string, run: () => Promise<typeof answer>): void;
}

/** The tools, and for `notifying` one notification at the end of 10 ms, as `attachGate` does by default. */
function addTools(kind: Kind, { server, register }: BenchServer): void {
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    void server.sendToolListChanged();
  };
  for (const name of NAMES) {
    const moves = kind === 'notifying' && (name === 'leave' || name === 'back');
    register(name, async () => {
      if (moves && timer === undefined) timer = setTimeout(send, 10).unref();
      return answer;
    });
  }
}

async function v1(kind: Kind): Promise<Caller> {
  const server = new ServerV1({ name: 'bench', version: '1.0.0' });
  addTools(kind, { server: server.server, register: (name, run) => server.registerTool(name, input, run) });
  if (kind === 'gated') attachGate(server, sessionsOf([]));
  const client = new ClientV1({ name: 'bench', version: '1.0.0' });
  const [ours, theirs] = TransportV1.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return (name) => client.callTool({ name, arguments: { id: '7' } });
}

async function v2(kind: Kind): Promise<Caller> {
  const server = new ServerV2({ name: 'bench', version: '1.0.0' });
  addTools(kind, { server: server.server, register: (name, run) => server.registerTool(name, input, run) });
  if (kind === 'gated') attachGate(server, sessionsOf([]));
  const client = new ClientV2({ name: 'bench', version: '1.0.0' });
  const [ours, theirs] = TransportV2.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return (name) => client.callTool({ name, arguments: { id: '7' } });
}

/** Calls that run before any are counted: both SDKs and the gate are compiled by then. */
const WARM_UP = 4_000;

async function benchCalls(sdk: string, make: (kind: Kind) => Promise<Caller>): Promise<void> {
  const bare = await make('bare');
  // The same code as the baseline: how far its ratio is from 1 is how far the other ratios can be off.
  const again = await make('bare');
  const notifying = await make('notifying');
  const gated = await make('gated');
  const repeat = 40;
  for (const [what, tools] of Object.entries(CALLS)) {
    const times = async (call: Caller, count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) await call(tools[at % tools.length] ?? tools[0]);
    };
    for (const call of [bare, again, notifying, gated]) await times(call, WARM_UP);
    const measure = (baseline: string, cases: Readonly<Record<string, Caller>>) =>
      compare({
        title: `a call of ${what}, ${sdk}, in-memory transport`,
        baseline,
        operations: repeat,
        rounds: ROUNDS,
        cases: Object.fromEntries(Object.entries(cases).map(([name, call]) => [name, () => times(call, repeat)])),
        targets: { 'through attachGate': { kind: 'time', max: 1.1 } },
      });
    await measure('ungated server', {
      'ungated server': bare,
      'ungated server again': again,
      'through attachGate': gated,
    });
    // Whoever changes a list has to say so, with a gate or without.
    if (what.startsWith('tools that move'))
      await measure('ungated server that sends list_changed', {
        'ungated server that sends list_changed': notifying,
        'through attachGate': gated,
      });
  }
}

const SDKS = {
  v1: () => benchCalls('sdk 1.x', v1),
  v2: () => benchCalls('server 2.x', v2),
} as const;

/** An SDK has the process to itself, as it has in use: what the compiler learnt of the other's objects would slow down ours. */
async function inOwnProcess(sdk: string): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [sdk], { execArgv: process.execArgv });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The bench of ${sdk} ended with ${code}.`);
}

/** Runs the integration's benches; `bench/index.ts` calls it. */
export async function benchMcp(): Promise<void> {
  await benchLists();
  for (const sdk of Object.keys(SDKS)) await inOwnProcess(sdk);
}

if (process.argv[1]?.endsWith('mcp.ts')) {
  const [sdk] = process.argv.slice(2);
  await (sdk === 'v1' || sdk === 'v2' ? SDKS[sdk]() : benchMcp());
}
