/**
 * How well tools are found. `tsx bench/search.ts TOOLS.json QUERIES.json` measures any catalogue (with five-fold
 * cross-validation against the targets); without arguments, our own queries on the tools of published servers, listed live.
 */
import { readQueries, readTools } from './search/data.js';
import { listPublishedTools } from './search/live-tools.js';
import { report } from './search/report.js';

const TARGETS = { recall10: 0.62, hit5: 0.7 };

const [toolsPath, queriesPath] = process.argv.slice(2);
if (toolsPath !== undefined && queriesPath === undefined) {
  throw new Error('Usage: tsx bench/search.ts [TOOLS.json QUERIES.json]');
}
const met =
  toolsPath !== undefined && queriesPath !== undefined
    ? await report(toolsPath.split('/').at(-1)!, readTools(toolsPath), readQueries(queriesPath), TARGETS)
    : await report(
        'our queries for published servers',
        await listPublishedTools(),
        readQueries(new URL('./queries/published-servers.json', import.meta.url).pathname),
      );
process.exitCode = met ? 0 : 1;
