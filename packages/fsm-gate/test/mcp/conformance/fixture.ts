/** The server that the official conformance suite expects, with every tool, prompt and resource of it bound to a gate. */
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const schemaOf = (property: string, type = 'string') =>
  ({ type: 'object', properties: { [property]: { type } }, required: [property] }) as const;
const ask = (message: string, property: string, type?: string) =>
  inputRequired.elicit({ message, requestedSchema: schemaOf(property, type) as never });
const sample = (prompt: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens,
  });

/** What a listener of the modern era is told of, by the tools that the suite has for it. */
export interface Triggers {
  toolsChanged(): void;
  promptsChanged(): void;
}

export function conformanceServer(triggers: Triggers): McpServer {
  const codec = createRequestStateCodec<{ step: number }>({ key: new Uint8Array(32).fill(9), ttlSeconds: 60 });
  const server = new McpServer(
    { name: 'gated-conformance', version: '1.0.0' },
    {
      capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
      requestState: { verify: codec.verify },
    },
  );
  const tool = (
    name: string,
    run: (ctx: ServerContext) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>,
  ) => server.registerTool(name, { description: name, inputSchema: z.object({}) }, async (_args, ctx) => run(ctx));
  addContent(server, tool);
  addLegacy(server, tool);
  addRounds(server, tool, codec);
  addPrompts(server);
  addResources(server);
  tool('test_logging_tool', async (ctx) => {
    await ctx.mcpReq.log('info', 'logged');
    return text('logged');
  });
  tool('test_trigger_tool_change', () => {
    triggers.toolsChanged();
    return text('changed');
  });
  tool('test_trigger_prompt_change', () => {
    triggers.promptsChanged();
    return text('changed');
  });
  return server;
}

type AddTool = (
  name: string,
  run: (ctx: ServerContext) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>,
) => unknown;

function addContent(_server: McpServer, tool: AddTool): void {
  const embedded = (uri: string, mimeType: string, value: string) => ({
    type: 'resource' as const,
    resource: { uri, mimeType, text: value },
  });
  tool('test_simple_text', () => text('This is a simple text response for testing.'));
  tool('test_image_content', () => ({ content: [image] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  tool('test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }));
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return text('no progress was asked for');
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    }
    return text('done');
  });
}

/** What only the revision of 2025 has: requests of the server to the client, and logs of a session. */
function addLegacy(server: McpServer, tool: AddTool): void {
  tool('test_tool_with_logging', async ({ mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line);
    }
    return text('done');
  });
  server.registerTool(
    'test_sampling',
    { description: 'test_sampling', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  );
  const elicit = async ({ mcpReq }: ServerContext, message: string, requestedSchema: object, before: string) => {
    const { action, content } = await mcpReq.elicitInput({ message, requestedSchema: requestedSchema as never });
    return text(`${before}action=${action}, content=${JSON.stringify(content ?? {})}`);
  };
  server.registerTool(
    'test_elicitation',
    { description: 'test_elicitation', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      return elicit(ctx, message, { type: 'object', properties, required: ['username', 'email'] }, 'User response: ');
    },
  );
  tool('test_elicitation_sep1034_defaults', (ctx) => {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    return elicit(ctx, 'defaults', { type: 'object', properties }, 'Elicitation completed: ');
  });
  tool('test_elicitation_sep1330_enums', (ctx) => {
    const plain = ['option1', 'option2', 'option3'];
    const titled = (word: string) =>
      ['First', 'Second', 'Third'].map((place, at) => ({ const: `value${at + 1}`, title: `${place} ${word}` }));
    const properties = {
      untitledSingle: { type: 'string', enum: plain },
      titledSingle: { type: 'string', oneOf: titled('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    };
    return elicit(ctx, 'enums', { type: 'object', properties }, 'Elicitation completed: ');
  });
}

/** Multi-round-trip results of 2026-07-28. */
function addRounds(
  _server: McpServer,
  tool: AddTool,
  codec: ReturnType<typeof createRequestStateCodec<{ step: number }>>,
): void {
  const name = ask('What is your name?', 'name');
  const responses = ({ mcpReq }: ServerContext) => mcpReq.inputResponses ?? {};
  tool('test_input_required_result_elicitation', (ctx) => {
    const answer = acceptedContent(responses(ctx), 'user_name') as { name?: unknown } | undefined;
    if (typeof answer?.name !== 'string') return inputRequired({ inputRequests: { user_name: name } });
    return text(`Hello, ${answer.name}!`);
  });
  tool('test_streaming_elicitation', (ctx) =>
    'user_name' in responses(ctx) ? text('done') : inputRequired({ inputRequests: { user_name: name } }),
  );
  const question = sample('What is the capital of France?', 100);
  tool('test_input_required_result_sampling', (ctx) => {
    const answer = responses(ctx).capital_question;
    return answer === undefined
      ? inputRequired({ inputRequests: { capital_question: question } })
      : text(JSON.stringify(answer));
  });
  tool('test_missing_capability', () => inputRequired({ inputRequests: { capital_question: question } }));
  tool('test_input_required_result_capabilities', (ctx) => {
    const declared = Object(
      (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY],
    ) as object;
    if (Object.keys(responses(ctx)).length > 0) return text('done');
    if ('sampling' in declared) return inputRequired({ inputRequests: { capital_question: question } });
    return 'elicitation' in declared ? inputRequired({ inputRequests: { user_name: name } }) : text('nothing to ask');
  });
  tool('test_input_required_result_list_roots', (ctx) => {
    const roots = responses(ctx).client_roots;
    return roots === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : text(JSON.stringify(roots));
  });
  for (const kind of ['request_state', 'tampered_state']) {
    tool(`test_input_required_result_${kind}`, async (ctx) => {
      if (ctx.mcpReq.requestState() !== undefined && 'confirm' in responses(ctx)) return text('state-ok');
      const confirm = ask('Please confirm', 'ok', 'boolean');
      return inputRequired({ inputRequests: { confirm }, requestState: await codec.mint({ step: 1 }, ctx) });
    });
  }
  tool('test_input_required_result_multiple_inputs', async (ctx) => {
    const given = responses(ctx);
    if (['user_name', 'greeting', 'client_roots'].every((key) => key in given)) return text('done');
    return inputRequired({
      inputRequests: {
        user_name: name,
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await codec.mint({ step: 1 }, ctx),
    });
  });
  tool('test_input_required_result_multi_round', async (ctx) => {
    const given = responses(ctx);
    if ('step2' in given) return text('done');
    const [key, next] =
      'step1' in given
        ? (['step2', ask('Step 2: What is your favorite color?', 'color')] as const)
        : (['step1', ask('Step 1: What is your name?', 'name')] as const);
    const requestState = await codec.mint({ step: key === 'step1' ? 1 : 2 }, ctx);
    return inputRequired({ inputRequests: { [key]: next }, requestState });
  });
}

function addPrompts(server: McpServer): void {
  const message = (content: object) => ({ role: 'user' as const, content: content as { type: 'text'; text: string } });
  const say = (value: string) => message({ type: 'text', text: value });
  server.registerPrompt('test_simple_prompt', { description: 'simple' }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }));
  const argument = completable(z.string(), (value) => ['hello', 'world'].filter((word) => word.startsWith(value)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'arguments', argsSchema: z.object({ arg1: argument, arg2: argument }) },
    ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
      return {
        messages: [message({ type: 'resource', resource }), say('Please process the embedded resource above.')],
      };
    },
  );
  server.registerPrompt('test_prompt_with_image', { description: 'image' }, () => ({
    messages: [message(image), say('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'rounds' }, (ctx) => {
    if (ctx.mcpReq.inputResponses !== undefined) return { messages: [say('in context')] };
    const user_context = ask('What context should the prompt use?', 'context');
    return inputRequired({ inputRequests: { user_context } });
  });
}

function addResources(server: McpServer): void {
  const add = (uri: string, contents: { mimeType: string; text: string } | { mimeType: string; blob: string }) =>
    server.registerResource(uri, uri, { description: uri, mimeType: contents.mimeType }, () => ({
      contents: [{ uri, ...contents }],
    }));
  add('test://static-text', { mimeType: 'text/plain', text: 'This is the content of the static text resource.' });
  add('test://static-binary', { mimeType: 'image/png', blob: PNG });
  add('test://watched-resource', { mimeType: 'text/plain', text: 'watched' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` });
    return { contents: [{ uri: uri.toString(), mimeType: 'application/json', text: data }] };
  });
  const subscribed = new Set<string>();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
}
