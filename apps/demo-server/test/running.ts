/** Starts the demo for a test, and connects agents to it. */
import { onTestFinished } from 'vitest';
import { type Demo, openDemo } from '../src/demo.js';
import { type RunningServer, startHttp } from '../src/http.js';
import { type DemoOptions, readOptions } from '../src/options.js';
import { type Agent, connectAgent } from '../src/tour/agent.js';

export interface RunningDemo {
  readonly demo: Demo;
  readonly server: RunningServer;
  /** What an operator would have seen on stderr. */
  readonly logged: readonly string[];
  agent(): Promise<Agent>;
  /** Asks the operator's side of the server. */
  operator(method: 'GET' | 'POST', runId: string, body?: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** A running demo on a free port, closed when the test ends. */
export async function aRunningDemo(options: Partial<DemoOptions> = {}): Promise<RunningDemo> {
  const defaults = readOptions(['--port', '0'], {});
  if (defaults === 'help') throw new Error('unreachable: no --help was given');
  const all = { ...defaults, ...options };
  const logged: string[] = [];
  const demo = await openDemo(all, (line) => logged.push(line));
  const server = await startHttp(demo, all, (line) => logged.push(line));
  const agents: Agent[] = [];
  let closed: Promise<void> | undefined;
  const close = async () => {
    await Promise.allSettled(agents.map((agent) => agent.close()));
    await server.close();
    await demo.close();
  };
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  onTestFinished(closeOnce);
  return {
    demo,
    server,
    logged,
    async agent() {
      const agent = await connectAgent(server.url);
      agents.push(agent);
      return agent;
    },
    operator: (method, runId, body = { decision: 'approve' }) =>
      fetch(`${server.url}/operator/payments/${runId}`, {
        method,
        headers: { authorization: `Bearer ${server.operatorToken}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      }),
    close: closeOnce,
  };
}

/** Brings a session to a payment that waits for approval; returns its run id. */
export async function aParkedPayment(agent: Agent): Promise<string> {
  await agent.call('cart_add_item', { sku: 'standing-desk', quantity: 2 });
  await agent.call('cart_checkout');
  const parked = await agent.call('cart_pay');
  return String(parked.structured.runId);
}
