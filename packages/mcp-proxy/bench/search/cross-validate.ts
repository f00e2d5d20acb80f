/** Five-fold cross-validation: the settings are chosen on four fifths of the queries and measured on the fifth. */
import type { ListedTool, RankingWeights, ToolSearchOptions } from '../../src/index.js';
import type { QuerySet } from './data.js';
import { mean, objective, score } from './metrics.js';
import { interlock } from './rankers.js';

const FOLDS = 5;

/** What may be chosen: every number around its default, and every table on or off. */
export function candidates(): ToolSearchOptions[] {
  const weights: Partial<RankingWeights>[] = [
    {},
    { name: 1.5 },
    { name: 3.5 },
    { server: 0.5 },
    { summary: 1 },
    { description: 1, parameterDescriptions: 1 },
    { description: 0.4, parameterDescriptions: 0.3 },
    { saturation: 0.8 },
    { saturation: 1.8 },
    { lengthPenalty: 0.2 },
    { lengthPenalty: 0.6 },
    { weakWord: 0.2 },
    { weakWord: 1 },
    { synonym: 0.15 },
    { synonym: 0.45 },
    { translation: 0.3 },
    { translation: 0.8 },
    { sameName: 1 },
    { guess: 0 },
  ];
  const tables: ToolSearchOptions[] = [{ synonyms: 'off' }, { glossary: 'off' }, { cues: 'off' }];
  return [...weights.map((own) => ({ weights: own })), ...tables];
}

export interface CrossValidated {
  readonly recall10: number;
  readonly hit5: number;
  /** The settings that each fold chose. */
  readonly chosen: readonly string[];
}

export function crossValidate(tools: readonly ListedTool[], queries: QuerySet): CrossValidated {
  const settings = candidates().map((options) => ({
    label: JSON.stringify(options),
    rank: interlock('', options).make(tools),
  }));
  const folds = Array.from({ length: FOLDS }, (_, fold) => {
    const train = part(queries, (index) => index % FOLDS !== fold);
    const held = part(queries, (index) => index % FOLDS === fold);
    // Ties go to the earlier candidate, so to the defaults.
    const best = settings.reduce((a, b) => (objective(train, b.rank) > objective(train, a.rank) ? b : a));
    return {
      recall10: mean(score(held.tasks, best.rank).recall10),
      hit5: mean(score(held.steps, best.rank).hit5),
      chosen: best.label,
    };
  });
  return {
    recall10: mean(folds.map((fold) => fold.recall10)),
    hit5: mean(folds.map((fold) => fold.hit5)),
    chosen: folds.map((fold) => fold.chosen),
  };
}

function part(queries: QuerySet, keep: (index: number) => boolean): QuerySet {
  return {
    tasks: queries.tasks.filter((_, index) => keep(index)),
    steps: queries.steps.filter((_, index) => keep(index)),
  };
}
