// The client that the official conformance suite drives: everything it does goes through connectClient.
// The suite gives the server's address as the last argument, the scenario and its particulars in the environment.
import { Client } from '@modelcontextprotocol/client';
import { connectClient } from '../../dist/client.js';
import { createSignedInFetch } from './sign-in.mjs';

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const capabilities = { elicitation: { form: { applyDefaults: true } } };
const client = new Client({ name: 'interlock-conformance', version: '1.0.0' }, { capabilities });
client.setRequestHandler('elicitation/create', ({ params }) => ({
  action: 'accept',
  content: exampleOf({ type: 'object', ...params.requestedSchema }, false),
}));

const connection = await connectClient(
  { type: 'streamable-http', url },
  {
    client,
    capabilities,
    probeTimeoutMs: 60_000, // A busy machine must not fail a scenario.
    ...(scenario.startsWith('auth/') && { fetch: createSignedInFetch(url, context) }),
    onError: (error) => console.error(error),
  },
);
console.error(`${scenario}: ${connection.era.kind} (${connection.resolution.evidence.rule})`);

const offers = client.getServerCapabilities() ?? {};
if (offers.tools) {
  const { tools } = await client.listTools();
  const calls =
    context.toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: exampleOf(inputSchema, true) }));
  for (const call of calls) await attempt(() => connection.run((client) => client.callTool(call)));
}
if (offers.resources) {
  const { resources } = await client.listResources();
  for (const { uri } of resources) await attempt(() => client.readResource({ uri }));
}
if (offers.prompts) {
  const { prompts } = await client.listPrompts();
  for (const { name, arguments: wanted = [] } of prompts) {
    const given = Object.fromEntries(wanted.map((argument) => [argument.name, 'example']));
    await attempt(() => client.getPrompt({ name, arguments: given }));
  }
}
await connection.close();

/** A refusal may be what the scenario is about: it is told of, and the rest is done. */
async function attempt(operation) {
  try {
    await operation();
  } catch (error) {
    console.error(error.message);
  }
}

/** A value that fits a simple JSON Schema. Optional members are only filled in when asked for. */
function exampleOf(schema = {}, optional) {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object': {
      const wanted = Object.entries(schema.properties ?? {}).filter(
        ([name]) => optional || schema.required?.includes(name),
      );
      return Object.fromEntries(wanted.map(([name, member]) => [name, exampleOf(member, optional)]));
    }
    case 'number':
    case 'integer':
      return 3;
    case 'boolean':
      return true;
    case 'array':
      return [];
    default:
      return 'example';
  }
}
