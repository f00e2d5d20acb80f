/**
 * How well tools are found. `tsx bench/search.ts TOOLS.json QUERIES.json` measures any catalogue (with five-fold
 * cross-validation against the targets); without arguments, our own queries on the tools of published servers, listed live.
 */
import { fileURLToPath } from 'node:url';
import { readQueries, readTools } from './search/data.js';
import { listPublishedTools } from './search/live-tools.js';
import { report } from './search/report.js';

/** Asked of any catalogue that is given, cross-validated. */
const TARGETS = { recall10: 0.62, hit5: 0.7 };
/** What our own sets have reached; less is a regression. */
const REGRESSION = { recall10: 0.85, hit5: 0.8 };

const [toolsPath, queriesPath] = process.argv.slice(2);
if (toolsPath !== undefined && queriesPath === undefined) {
  throw new Error('Usage: tsx bench/search.ts [TOOLS.json QUERIES.json]');
}
const met =
  toolsPath !== undefined && queriesPath !== undefined
    ? await report(toolsPath.split('/').at(-1)!, readTools(toolsPath), readQueries(queriesPath), TARGETS)
    : await ownQueries();
process.exitCode = met ? 0 : 1;

async function ownQueries(): Promise<boolean> {
  const tools = await listPublishedTools();
  const results: boolean[] = [];
  for (const name of ['published-servers', 'held-out']) {
    const queries = readQueries(fileURLToPath(new URL(`./queries/${name}.json`, import.meta.url)));
    results.push(await report(`our queries, ${name}`, tools, queries, REGRESSION));
  }
  return results.every(Boolean);
}
