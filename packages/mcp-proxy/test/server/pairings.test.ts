import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, specsOf } from '../../src/node/index.js';
import { createGateway, serveHttp } from '../../src/server/index.js';
import { modernHttpUpstream } from '../fixtures/http-upstreams.js';
import { configOf, scripted, textOf } from '../fixtures/scripted.js';

type Era = 'legacy' | 'modern';

/** A host of either era behind one face, with a person who answers as the test says. */
interface Host {
  call(
    args: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<{ content: { type: string }[]; [key: string]: unknown }>;
  /** What the host was asked, in order. */
  readonly asked: { method: string; params: Record<string, unknown> }[];
  readonly logs: unknown[];
}
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number }) => void;
}
interface HostOptions {
  readonly capabilities?: Record<string, object>;
  readonly answer?: (method: string) => unknown;
}

const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const ANSWERS: Record<string, unknown> = {
  'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
  'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'test-model' },
  'roots/list': { roots: [{ uri: 'file:///home/ada', name: 'home' }] },
};

/** A gateway with one upstream of the given era, called `up`. */
async function aGateway(upstream: Era): Promise<string> {
  // Where its pages are is known from its entry: that is no secret, or hosts could not open them.
  let entry = scripted('good', { env: { AUTH_URL: 'https://pages.example' } });
  if (upstream === 'modern') {
    const server = await modernHttpUpstream();
    closers.push(() => server.close());
    entry = { url: server.url };
  }
  const configs = configOf({ up: entry });
  const provider = createNodeProvider(configs, {
    relay: ['elicitation/create', 'sampling/createMessage', 'roots/list'],
  });
  const proxy = new McpProxyTool(provider, specsOf(configs));
  const gateway = createGateway({ proxy });
  const served = await serveHttp(gateway);
  closers.push(async () => {
    await served.close();
    gateway.close();
    await proxy.closeAll();
    await provider.closeAll();
  });
  return served.url;
}

async function aHost(era: Era, url: string, options: HostOptions = {}): Promise<Host> {
  const asked: Host['asked'] = [];
  const logs: unknown[] = [];
  const capabilities = options.capabilities ?? ALL;
  const reply = async (request: { method: string; params?: unknown }): Promise<never> => {
    asked.push({ method: request.method, params: (request.params ?? {}) as Record<string, unknown> });
    return (options.answer?.(request.method) ?? ANSWERS[request.method]) as never;
  };
  if (era === 'modern') {
    const client = new Client({ name: 'host', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } });
    if (capabilities.elicitation) client.setRequestHandler('elicitation/create', reply);
    if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', reply);
    if (capabilities.roots) client.setRequestHandler('roots/list', reply);
    client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params.data));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect(client.getProtocolEra()).toBe('modern');
    closers.push(() => client.close());
    return {
      asked,
      logs,
      call: (args, callOptions) =>
        client.callTool(
          { name: 'mcp', arguments: args, _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } },
          callOptions,
        ) as never,
    };
  }
  const client = new LegacyClient({ name: 'host', version: '1' }, { capabilities });
  if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, reply);
  if (capabilities.sampling) client.setRequestHandler(CreateMessageRequestSchema, reply);
  if (capabilities.roots) client.setRequestHandler(ListRootsRequestSchema, reply);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params.data));
  await client.connect(new LegacyTransport(new URL(url)) as Parameters<typeof client.connect>[0]);
  await client.setLoggingLevel('debug');
  closers.push(() => client.close());
  return {
    asked,
    logs,
    call: (args, callOptions) => client.callTool({ name: 'mcp', arguments: args }, undefined, callOptions) as never,
  };
}

const PAIRINGS: [Era, Era][] = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'modern'],
  ['modern', 'legacy'],
];

describe.each(PAIRINGS)('a %s upstream and a %s host', (upstreamEra, hostEra) => {
  it('elicit: the person is asked and the upstream gets the answer', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    const result = await host.call({ tool: 'ask', server: 'up', args: {} });
    expect(host.asked).toHaveLength(1);
    expect(host.asked[0]).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } });
    expect(textOf(result)).toContain('Ada');
    if (upstreamEra === 'modern') expect(textOf(result)).toContain('the state of the upstream');
  });

  it('elicit: a refusal of the person reaches the upstream', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra), { answer: () => ({ action: 'decline' }) });
    expect(textOf(await host.call({ tool: 'ask', server: 'up', args: {} }))).toContain('decline');
  });

  it('elicit: a host that cannot is not asked, and the answer says so', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra), { capabilities: {} });
    const result = await host.call({ tool: 'ask', server: 'up', args: {} });
    expect(host.asked).toEqual([]);
    expect(textOf(result)).toContain('elicitation/create');
    expect(textOf(result)).toContain('does not support');
  });

  it('sample: the host makes the message', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    expect(textOf(await host.call({ tool: 'sample', server: 'up', args: {} }))).toContain('test-model');
  });

  it('roots: the upstream learns where the host works', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    expect(textOf(await host.call({ tool: 'roots', server: 'up', args: {} }))).toContain('file:///home/ada');
    expect(host.asked.map(({ method }) => method)).toEqual(['roots/list']);
  });

  it('roots: a host without any is not asked', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra), { capabilities: {} });
    expect(textOf(await host.call({ tool: 'roots', server: 'up', args: {} }))).toContain('does not support');
    expect(host.asked).toEqual([]);
  });

  it('log: messages reach a host that wants them', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    await host.call({ tool: 'log', server: 'up', args: {} });
    await vi.waitFor(() => expect(host.logs).toContain('the log line'), { timeout: 30_000 });
  });

  it('progress crosses', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    const progress: number[] = [];
    await host.call(
      { tool: 'progress', server: 'up', args: {} },
      { onprogress: (step) => progress.push(step.progress) },
    );
    expect(progress[0]).toBe(1);
  });

  it('results that are no success cross', async () => {
    const host = await aHost(hostEra, await aGateway(upstreamEra));
    const tool = upstreamEra === 'legacy' ? 'structured' : 'list';
    const { structuredContent } = await host.call({ tool, server: 'up', args: {} });
    const modernHostOfList = hostEra === 'modern' ? [1, 2] : { result: [1, 2] };
    expect(structuredContent).toEqual(upstreamEra === 'legacy' ? { answer: 42, list: [1, 2] } : modernHostOfList);
  });
});

describe.each<Era>(['legacy', 'modern'])('a %s host', (hostEra) => {
  it('gets images, audio, links and resources as they came, and unknown kinds as text', async () => {
    const host = await aHost(hostEra, await aGateway('legacy'));
    const media = await host.call({ tool: 'media', server: 'up', args: {} });
    expect(media.content.map(({ type }) => type)).toEqual(['image', 'audio', 'resource_link', 'resource', 'text']);
    expect(media).toMatchObject({ _meta: { 'example.com/trace': 'abc' } });
    const strange = await host.call({ tool: 'strange', server: 'up', args: {} });
    expect(strange.content).toMatchObject([
      { type: 'text', text: expect.stringContaining('hologram') },
      { text: 'and text' },
    ]);
  });

  it('gets isError', async () => {
    const host = await aHost(hostEra, await aGateway('legacy'));
    expect(await host.call({ tool: 'fail', server: 'up', args: {} })).toMatchObject({ isError: true });
  });

  it('that cancels cancels at the upstream, without its reason', async () => {
    const host = await aHost(hostEra, await aGateway('legacy'));
    const stop = new AbortController();
    const call = host.call({ tool: 'hold', server: 'up', args: {} }, { signal: stop.signal });
    call.catch(() => undefined);
    await vi.waitFor(async () => expect(textOf(await host.call({ tool: 'seen', server: 'up' }))).toContain('"hold"'), {
      timeout: 30_000,
    });
    stop.abort('a private reason');
    await expect(call).rejects.toThrow();
    await vi.waitFor(
      async () => expect(textOf(await host.call({ tool: 'seen', server: 'up' }))).toContain('notifications/cancelled'),
      { timeout: 30_000 },
    );
    expect(textOf(await host.call({ tool: 'seen', server: 'up' }))).not.toContain('private');
  });

  it('asked by URL only when it can', async () => {
    const url = await aGateway('legacy');
    const able = await aHost(hostEra, url);
    const args = { mode: 'url', message: 'Sign here' };
    expect(textOf(await able.call({ tool: 'ask', server: 'up', args }))).toContain('accept');
    const unable = await aHost(hostEra, url, { capabilities: { elicitation: { form: {} } } });
    expect(textOf(await unable.call({ tool: 'ask', server: 'up', args }))).toContain('does not support');
  });

  it('of which another asks at the same time is never asked in its place', async () => {
    const url = await aGateway('legacy');
    const [one, other] = [await aHost(hostEra, url), await aHost(hostEra, url)];
    const held = other.call({ tool: 'hold', server: 'up', args: {} });
    await vi.waitFor(async () => expect(textOf(await one.call({ tool: 'seen', server: 'up' }))).toContain('"hold"'), {
      timeout: 30_000,
    });
    expect(textOf(await one.call({ tool: 'ask', server: 'up', args: {} }))).toContain('several hosts');
    expect([one.asked, other.asked]).toEqual([[], []]);
    await one.call({ tool: 'release', server: 'up', args: {} });
    await held;
  });
});

it('a host of the older era is told when what it opened a web page for is done', async () => {
  const client = new LegacyClient({ name: 'host', version: '1' }, { capabilities: { elicitation: { url: {} } } });
  const complete: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept' }));
  client.setNotificationHandler(
    ElicitationCompleteNotificationSchema,
    ({ params }) => void complete.push(params.elicitationId),
  );
  const transport = new LegacyTransport(new URL(await aGateway('legacy')));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  closers.push(() => client.close());
  await client.callTool({ name: 'mcp', arguments: { tool: 'ask-by-url', server: 'up', args: {} } });
  await vi.waitFor(() => expect(complete).toEqual(['e1']), { timeout: 30_000 });
});

describe('a server that wants a web page visited before it is called', () => {
  const call = { tool: 'needs-page', server: 'up' };

  it('is called again by us once the person at a modern host has agreed, page by page', async () => {
    const host = await aHost('modern', await aGateway('legacy'));
    expect(textOf(await host.call({ ...call, args: { visits: 2 } }))).toBe('done');
    // What is no web page is not shown to anybody.
    expect(host.asked.map(({ params }) => [params.mode, String(params.url).slice(0, 40)])).toEqual([
      ['url', 'https://pages.example/connect?step=1&xxx'],
      ['url', 'https://pages.example/connect?step=2&xxx'],
    ]);
  });

  it('is not called again when the person does not agree, nor without end', async () => {
    const url = await aGateway('legacy');
    const unwilling = await aHost('modern', url, { answer: () => ({ action: 'decline' }) });
    expect(textOf(await unwilling.call({ ...call, args: { visits: 5 } }))).toContain('did not agree');
    expect(unwilling.asked).toHaveLength(1);
    // Eleven at most, of which a host of the SDK follows ten.
    const patient = await aHost('modern', url);
    const answer = await patient.call({ ...call, args: { visits: 1_000 } }).then(textOf, String);
    expect(answer).toMatch(/again and again|rounds/);
    expect(patient.asked.length).toBeLessThanOrEqual(11);
  });

  it('is told to a host of the older era in that era’s own error, and so is the end of the visit', async () => {
    const client = new LegacyClient({ name: 'host', version: '1' }, { capabilities: { elicitation: { url: {} } } });
    const complete: string[] = [];
    client.setNotificationHandler(
      ElicitationCompleteNotificationSchema,
      ({ params }) => void complete.push(params.elicitationId),
    );
    const transport = new LegacyTransport(new URL(await aGateway('legacy')));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    closers.push(() => client.close());
    const request = { name: 'mcp', arguments: { ...call, args: { tellsEnd: true } } };
    const error = await client.callTool(request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect((error as UrlElicitationRequiredError).elicitations).toEqual([
      {
        mode: 'url',
        url: expect.stringMatching(/^https:\/\/pages\.example\/connect\?step=1&x{600}$/),
        message: 'Connect your account',
        elicitationId: 'page-1',
      },
    ]);
    await vi.waitFor(() => expect(complete).toEqual(['page-1']), { timeout: 30_000 });
    expect(textOf(await client.callTool(request))).toBe('done');
  });

  it.each(['legacy', 'modern'] as const)(
    'is answered with the whole address to a %s host that opens none',
    async (era) => {
      const host = await aHost(era, await aGateway('legacy'), { capabilities: { elicitation: { form: {} } } });
      const result = await host.call(call);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(
        /visit a page first.*https:\/\/pages\.example\/connect\?step=1&x{600} \(Connect your account\)/,
      );
      expect(host.asked).toEqual([]);
    },
  );
});

it('the gateway is reached in memory too', async () => {
  const proxy = new McpProxyTool({ connect: () => Promise.reject(new Error('unused')) }, []);
  const gateway = createGateway({ proxy });
  const [hostSide, gatewaySide] = InMemoryTransport.createLinkedPair();
  await gateway.createServer({ era: 'legacy' }).connect(gatewaySide as never);
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(hostSide);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mcp']);
  await client.close();
  gateway.close();
});
