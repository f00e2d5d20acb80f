/** Prints the rankers of one catalogue side by side, with their speed and the size of their answers. */

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type ListedTool, McpProxyTool, renderAnswer } from '../../src/index.js';
import { crossValidate } from './cross-validate.js';
import type { QuerySet } from './data.js';
import { mean, type Ranker, score } from './metrics.js';
import { RANKERS } from './rankers.js';

export interface Targets {
  readonly recall10: number;
  readonly hit5: number;
}

/** Returns whether the targets are met (true without any). */
export async function report(title: string, tools: ListedTool[], given: QuerySet, targets?: Targets): Promise<boolean> {
  const { queries, leftOut } = answerable(given, tools);
  const counts = `${tools.length} tools, ${queries.tasks.length} tasks, ${queries.steps.length} steps`;
  console.log(`\n## Search: ${title} (${counts})\n`);
  if (leftOut > 0) console.log(`${leftOut} queries are left out: none of their tools is in the catalogue.\n`);
  console.log(
    '| ranker | tasks: recall@1 / 5 / 10 | steps: hit@1 / 5 / 10 | MRR | empty | tokens a result | ms a query |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const { name, make } of RANKERS) console.log(row(name, make(tools), queries));
  console.log(`\nText of an answer of ours: ${await tokensOfAnswers(tools, queries)} o200k tokens on average.`);
  if (targets === undefined) return true;
  const validated = crossValidate(tools, queries);
  const met = validated.recall10 >= targets.recall10 && validated.hit5 >= targets.hit5;
  console.log(
    `Five-fold cross-validated: recall@10 ${f(validated.recall10)} (target ${targets.recall10}), hit@5 ${f(validated.hit5)} (target ${targets.hit5}): ${met ? 'met' : 'NOT MET'}`,
  );
  console.log(`Settings chosen by the folds: ${validated.chosen.join(' ')}`);
  return met;
}

/** A server that could not be listed, or renamed its tools, must not look like a search that fails. */
function answerable({ tasks, steps }: QuerySet, tools: readonly ListedTool[]): { queries: QuerySet; leftOut: number } {
  const names = new Set(tools.map(({ tool }) => tool.name));
  const kept = {
    tasks: tasks.filter(({ gold }) => gold.every((name) => names.has(name))),
    steps: steps.filter(({ gold }) => gold.some((name) => names.has(name))),
  };
  return { queries: kept, leftOut: tasks.length + steps.length - kept.tasks.length - kept.steps.length };
}

function row(name: string, rank: Ranker, { tasks, steps }: QuerySet): string {
  const ofTasks = score(tasks, rank);
  const ofSteps = score(steps, rank);
  const recall = [ofTasks.recall1, ofTasks.recall5, ofTasks.recall10].map((values) => f(mean(values))).join(' / ');
  const hit = [ofSteps.hit1, ofSteps.hit5, ofSteps.hit10].map((values) => f(mean(values))).join(' / ');
  const empty = mean([...ofTasks.empty, ...ofSteps.empty]);
  return `| ${name} | ${recall} | ${hit} | ${f(mean(ofSteps.reciprocal))} | ${f(empty)} | ${tokensPerResult(rank, [...tasks, ...steps])} | ${msPerQuery(rank, [...tasks, ...steps]).toFixed(2)} |`;
}

function msPerQuery(rank: Ranker, queries: readonly { query: string }[]): number {
  for (const { query } of queries) rank(query);
  const times = queries.map(({ query }) => {
    const startedAt = performance.now();
    rank(query);
    return performance.now() - startedAt;
  });
  return mean(times);
}

/** Of the text that the model would get for these hits. */
function tokensPerResult(rank: Ranker, queries: readonly { query: string }[]): number {
  const answers = queries.map(({ query }) => {
    const hits = rank(query).map((listed) => ({ ...listed, score: 1 }));
    const text = renderAnswer(
      { kind: 'hits', query, hits, matched: hits.length, searched: hits.length, skipped: [] },
      { maxSearchTokens: Number.POSITIVE_INFINITY },
    );
    return hits.length === 0 ? [] : [countTokens(text) / hits.length];
  });
  return Math.round(mean(answers.flat()));
}

/** What the model really gets: the text of the `mcp` tool. */
async function tokensOfAnswers(tools: readonly ListedTool[], { tasks, steps }: QuerySet): Promise<number> {
  const servers = [...new Set(tools.map(({ serverName }) => serverName))];
  const proxy = new McpProxyTool(
    {
      connect: async (serverName) => ({
        listTools: async () => tools.filter((listed) => listed.serverName === serverName).map(({ tool }) => tool),
        callTool: async () => undefined,
        close: async () => {},
      }),
    },
    servers.map((serverName) => ({ serverName, resourceIds: [] })),
  );
  const tool = proxy.asTool();
  const answers: string[] = [];
  for (const { query } of [...tasks, ...steps]) answers.push(await tool.execute({ search: query }));
  await proxy.closeAll();
  return Math.round(mean(answers.map((text) => countTokens(text))));
}

function f(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3);
}
