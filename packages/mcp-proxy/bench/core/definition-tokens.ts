/** What the one definition costs, counted with o200k_base over name, description and input schema. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { MCP_PROXY_TOOL_NAME, proxyDescription, proxyParameters } from '../../src/index.js';

const NAMES =
  'filesystem desktop-commander playwright chrome-devtools context7 notion mongodb firecrawl sentry sequential-thinking exa github'.split(
    ' ',
  );
const TARGET = 200;

/** Returns whether the target is met. */
export function definitionTokens(): boolean {
  console.log('\n## Tokens of the definition (o200k)\n');
  console.log('| servers | tokens | target |');
  console.log('|---|---|---|');
  let met = true;
  for (const count of [0, 3, 10, 12]) {
    const description = proxyDescription(NAMES.slice(0, count));
    const tokens = countTokens(
      JSON.stringify({ name: MCP_PROXY_TOOL_NAME, description, inputSchema: proxyParameters() }),
    );
    met &&= tokens <= TARGET;
    console.log(`| ${count} | ${tokens} | ≤ ${TARGET}: ${tokens <= TARGET ? 'met' : 'NOT MET'} |`);
  }
  return met;
}
