import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/audit/index.js';
import { type FsmConfig, StateMachineGate } from '../../src/index.js';
import { attachGate, promptName, resourceName } from '../../src/mcp.js';
import { createGateSessions, type GateSessions } from '../../src/sessions/index.js';
import { conformanceServer, type Triggers } from './conformance/fixture.js';

/** Needs Node 22 and is far too large to be everybody's dependency: it is fetched when this runs. */
const FETCHED = ['-y', '-p', 'node@22', '-p', '@modelcontextprotocol/conformance@0.2.0-alpha.12', 'conformance'];
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;
const HALF_AN_HOUR = 1_800_000;

const decisions: AuditRecord[] = [];
let http: Server;
let url = '';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fsm-gate-conformance-'));
  http = await serve();
  url = `http://localhost:${(http.address() as AddressInfo).port}/mcp`;
});
afterAll(async () => {
  http.closeAllConnections();
  http.close();
  await rm(folder, { recursive: true, force: true });
});

/** Every name of the fixture, bound with an event: each call reserves and commits. */
async function gatedSessions(): Promise<GateSessions> {
  const gate = new StateMachineGate<FsmConfig>({ initial: 'open', states: { open: { on: { STEP: 'open' } } } });
  const fixture = conformanceServer({ toolsChanged() {}, promptsChanged() {} }) as unknown as Record<string, object>;
  for (const name of Object.keys(fixture._registeredTools ?? {})) gate.bindTool(name, 'open', 'STEP');
  for (const name of Object.keys(fixture._registeredPrompts ?? {})) gate.bindTool(promptName(name), 'open', 'STEP');
  for (const uri of Object.keys(fixture._registeredResources ?? {})) gate.bindTool(resourceName(uri), 'open', 'STEP');
  gate.bindTool(resourceName('test://template/{id}/data'), 'open', 'STEP');
  return createGateSessions({ gate, onDecision: (record) => decisions.push(record) });
}

async function serve(): Promise<Server> {
  const sessions = await gatedSessions();
  const triggers: Triggers = {
    toolsChanged: () => modern.notify.toolsChanged(),
    promptsChanged: () => modern.notify.promptsChanged(),
  };
  const modern = createMcpHandler(
    ({ era }) => {
      const server = conformanceServer(triggers);
      // The suite has no authorization: everybody shares one state.
      attachGate(server, sessions, { era, stateKey: () => 'anonymous' });
      return server;
    },
    { legacy: 'reject' },
  );
  const legacy = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const serveLegacy = async (request: Request): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : legacy.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response('no such session', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void legacy.set(session, transport),
      onsessionclosed: (session) => void legacy.delete(session),
    });
    const server = conformanceServer(triggers);
    attachGate(server, sessions);
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  const fetch = async (request: Request): Promise<Response> => {
    const rejected =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (rejected !== undefined) return rejected;
    return (await isLegacyRequest(request)) ? serveLegacy(request) : modern.fetch(request);
  };
  const handle = toNodeHandler({ fetch });
  // Its types were not made for exactOptionalPropertyTypes; it takes what node:http gives.
  const server = createServer(handle as unknown as RequestListener);
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return server;
}

function conformance(revision: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const args = [...FETCHED, 'server', '--url', url, '--requirements', revision, '--timeout', '300000', '-o', folder];
    const child = spawn('npx', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe('the official conformance suite', () => {
  test.each(['2026-07-28', '2025-11-25'])(
    'passes for revision %s with a gate before every tool, prompt and resource',
    async (revision) => {
      decisions.length = 0;
      const { code, output } = await conformance(revision);
      if (code !== 0 && NO_REGISTRY.test(output) && !process.env.CI) {
        console.warn('fsm-gate: the npm registry cannot be reached, so the conformance suite was not run');
        return;
      }
      expect(code, output.slice(-6_000)).toBe(0);
      const committed = new Set(decisions.filter(({ kind }) => kind === 'committed').map(({ tool }) => tool));
      expect(committed.size).toBeGreaterThan(15);
      expect(committed).toContain('test_simple_text');
      expect(committed).toContain(promptName('test_simple_prompt'));
      expect(committed).toContain(resourceName('test://template/{id}/data'));
      expect(decisions.filter(({ kind }) => kind === 'refused')).toEqual([]);
    },
    HALF_AN_HOUR,
  );
});
