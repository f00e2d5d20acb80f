/** What a ranking is worth: recall, hits, reciprocal rank, empty answers; scored by tool name among the first k hits. */
import type { ListedTool } from '../../src/index.js';
import type { Query, QuerySet } from './data.js';

/** The best tools for a query, best first. */
export type Ranker = (query: string) => readonly ListedTool[];

export interface Scores {
  readonly recall1: readonly number[];
  readonly recall5: readonly number[];
  readonly recall10: readonly number[];
  readonly hit1: readonly number[];
  readonly hit5: readonly number[];
  readonly hit10: readonly number[];
  readonly reciprocal: readonly number[];
  readonly empty: readonly number[];
}

export function score(queries: readonly Query[], rank: Ranker): Scores {
  const answers = queries.map(({ query, gold }) => ({
    names: rank(query).map(({ tool }) => tool.name),
    gold: [...new Set(gold)],
  }));
  const recall = (k: number): number[] =>
    answers.map(({ names, gold }) => gold.filter((name) => names.slice(0, k).includes(name)).length / gold.length);
  const hit = (k: number): number[] =>
    answers.map(({ names, gold }) => (gold.some((name) => names.slice(0, k).includes(name)) ? 1 : 0));
  return {
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(10),
    hit1: hit(1),
    hit5: hit(5),
    hit10: hit(10),
    reciprocal: answers.map(({ names, gold }) => {
      const first = names.findIndex((name) => gold.includes(name));
      return first === -1 ? 0 : 1 / (first + 1);
    }),
    empty: answers.map(({ names }) => (names.length === 0 ? 1 : 0)),
  };
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The one number by which settings are chosen in cross-validation. */
export function objective(set: QuerySet, rank: Ranker): number {
  const tasks = set.tasks.length > 0 ? mean(score(set.tasks, rank).recall10) : 0;
  const steps = set.steps.length > 0 ? mean(score(set.steps, rank).hit5) : 0;
  return tasks + steps;
}
