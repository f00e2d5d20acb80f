/** Composes the five packages into one shop: storage, gate, payments, tools, upstreams. Knows nothing of transports. */

import { attachGate, type RefusalRenderer, textOfRefusal } from '@mcp-interlock/fsm-gate/mcp';
import { createGateSessions, type GateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { toolError } from '@mcp-interlock/responses';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { checkoutGate } from './gate.js';
import type { DemoOptions } from './options.js';
import { type Decision, type DecisionResult, Payments } from './payments.js';
import { registerProxyTool } from './proxy-tool.js';
import { openStorage } from './storage.js';
import { registerShopTools, SHOP_TOOLS } from './tools.js';
import { openUpstreams } from './upstreams.js';

const SERVER_INFO = { name: 'interlock-demo', version: '0.1.0' } as const;

/** The demo has no sign-in: whoever reaches the loopback interface is this principal. */
const PRINCIPAL = 'local';

export interface Demo {
  readonly storageDescription: string;
  readonly payments: Payments;
  readonly sessions: GateSessions;
  /** A server for one session, gated; connect it to a transport. */
  createServer(sessionKey: string): McpServer;
  /** Frees what was kept for a session that is over. */
  endSession(sessionKey: string): Promise<void>;
  /** An operator's word on a paused payment; moves the session that waits for it. */
  decide(runId: string, decision: Decision, operator: string): Promise<DecisionResult>;
  close(): Promise<void>;
}

/** The gate's own words, in the envelope that every error of this server has. */
const wordRefusal: RefusalRenderer = (refusal) =>
  toolError('FORBIDDEN', {
    message: textOfRefusal(refusal),
    availableActions: 'openTools' in refusal ? [...refusal.openTools] : [],
  });

/** Opens storage and declares the upstreams. `log` gets what an operator should know; it never goes to stdout. */
export async function openDemo(options: DemoOptions, log: (line: string) => void): Promise<Demo> {
  const onError = (error: unknown) => log(messageOf(error));
  const storage = await openStorage(options, onError);
  const upstreams = openUpstreams(storage.eraCache, log);
  const payments = new Payments(storage.runs);
  const sessions = createGateSessions({
    gate: checkoutGate(),
    store: storage.gateStore,
    tools: [...SHOP_TOOLS, upstreams.proxy.asTool().name],
    onError,
  });
  const settle = (sessionKey: string, runId: string, outcome: 'paid' | 'rejected') =>
    sessions.send(sessionKey, outcome === 'paid' ? 'APPROVED' : 'REJECTED', { args: { runId } });

  return {
    storageDescription: storage.description,
    payments,
    sessions,

    createServer(sessionKey) {
      const server = new McpServer(SERVER_INFO, {
        capabilities: { tools: { listChanged: true } },
        instructions:
          'A shop. Its tools come and go with the state of the order; a refused call says what to do instead.',
      });
      // What the transport could not read is answered by the SDK where the protocol has an answer, and told here always.
      server.server.onerror = onError;
      registerShopTools(server, {
        sessionKey,
        principal: PRINCIPAL,
        carts: storage.carts,
        payments,
        approvalLimit: options.approvalLimit,
        onSettled: async (runId, outcome) => void (await settle(sessionKey, runId, outcome)),
        onError: (correlationId, error) => log(`tool call ${correlationId}: ${messageOf(error)}`),
      });
      registerProxyTool(server, upstreams.proxy);
      attachGate(server, sessions, {
        stateKey: () => sessionKey,
        refusal: wordRefusal,
        onError,
      });
      return server;
    },

    async endSession(sessionKey) {
      await Promise.all([storage.carts.clear(sessionKey), sessions.end(sessionKey)]);
    },

    async decide(runId, decision, operator) {
      const result = await payments.decide(runId, decision, operator);
      // A session that is gone, or that moved on by payment_result, does not take the event: nothing changes then.
      if (result.kind === 'decided') await settle(result.order.sessionKey, runId, result.outcome.kind);
      return result;
    },

    async close() {
      sessions.close();
      await upstreams.close();
      await storage.close();
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
