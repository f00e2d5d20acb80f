/** How long a search takes once the index is there, and how long the index takes, at several sizes of the catalogue. */
import MiniSearch from 'minisearch';
import { createToolIndex } from '../../src/index.js';
import { aCatalogue, QUERIES } from './catalogue.js';

const SIZES = [500, 5_000];
/** Rounds over all queries; the time of a query is its median over them, so that the scheduler's pauses do not count. */
const ROUNDS = 15;
/** The comparison is slow at 5,000 tools; a part of the queries is enough to tell. */
const COMPARED_QUERIES = 30;
const TARGET_P99_MS = 2;

/** Returns whether the target is met. */
export function searchSpeed(): boolean {
  console.log('\n## Search speed (warm, one core)\n');
  console.log('| tools | searcher | index ms | p50 ms | p99 ms | slowest single ms | target p99 |');
  console.log('|---|---|---|---|---|---|---|');
  let met = true;
  for (const size of SIZES) {
    const tools = aCatalogue(size);
    const startedAt = performance.now();
    const index = createToolIndex(tools);
    const ours = {
      name: 'ours',
      indexMs: performance.now() - startedAt,
      search: (query: string) => index.search(query),
    };
    const searchers = [ours, miniSearch(tools)];
    for (const searcher of searchers) {
      const { p50, p99, slowest } = percentiles(
        searcher.search,
        searcher === ours ? QUERIES : QUERIES.slice(0, COMPARED_QUERIES),
      );
      const target =
        searcher === ours && size === 5_000 ? `≤ ${TARGET_P99_MS}: ${p99 <= TARGET_P99_MS ? 'met' : 'NOT MET'}` : '';
      if (searcher === ours && p99 > TARGET_P99_MS) met = false;
      console.log(
        `| ${size} | ${searcher.name} | ${searcher.indexMs.toFixed(0)} | ${p50.toFixed(3)} | ${p99.toFixed(3)} | ${slowest.toFixed(1)} | ${target} |`,
      );
    }
  }
  return met;
}

function miniSearch(tools: ReturnType<typeof aCatalogue>): {
  name: string;
  indexMs: number;
  search: (query: string) => unknown;
} {
  const startedAt = performance.now();
  const index = new MiniSearch({ fields: ['name', 'description'] });
  index.addAll(tools.map(({ tool }, id) => ({ id, name: tool.name, description: tool.description })));
  return { name: 'MiniSearch, plain', indexMs: performance.now() - startedAt, search: (query) => index.search(query) };
}

function percentiles(
  search: (query: string) => unknown,
  queries: readonly string[],
): { p50: number; p99: number; slowest: number } {
  const times = queries.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round++) {
    queries.forEach((query, index) => {
      const startedAt = performance.now();
      search(query);
      // The first round warms up.
      if (round >= 0) times[index]!.push(performance.now() - startedAt);
    });
  }
  const medians = times.map((own) => own.sort((a, b) => a - b)[ROUNDS >> 1]!).sort((a, b) => a - b);
  const at = (share: number): number => medians[Math.floor(medians.length * share)]!;
  return { p50: at(0.5), p99: at(0.99), slowest: Math.max(...times.flat()) };
}
