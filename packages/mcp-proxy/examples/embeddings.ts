import { McpProxyTool, type RankTools } from '@mcp-interlock/mcp-proxy';

/** Any model that turns text into a vector; this one counts letters, so that the example runs without one. */
const embed = async (text: string): Promise<number[]> =>
  [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => text.toLowerCase().split(letter).length - 1);

const cosine = (a: number[], b: number[]): number => {
  const dot = (x: number[], y: number[]): number => x.reduce((sum, value, index) => sum + value * y[index]!, 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
};

const rank: RankTools = async ({ query, candidates }) => {
  const wanted = await embed(query);
  const scored = await Promise.all(
    candidates.map(async (hit) => ({ hit, score: cosine(wanted, await embed(hit.tool.description ?? hit.tool.name)) })),
  );
  return scored.sort((a, b) => b.score - a.score).map(({ hit }) => hit);
};

const provider = {
  connect: async () => ({
    listTools: async () => [
      { name: 'a', description: 'Sends mail.' },
      { name: 'b', description: 'Sends a parcel.' },
    ],
    callTool: async () => 'done',
    close: async () => {},
  }),
};

// `'all'` hands the hook the tools that match no word, too.
const proxy = new McpProxyTool(provider, [{ serverName: 'post', resourceIds: [] }], { rank, rankCandidates: 'all' });
console.log(await proxy.asTool().execute({ search: 'send a parcel' }));
await proxy.closeAll();
