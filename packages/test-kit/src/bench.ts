/**
 * Ratios against a named baseline, measured in one run: the cases of a round run one after another, the rounds are
 * interleaved, and the median of the rounds is what counts, so that a machine that changes its speed changes no ratio.
 */
export interface CompareOptions {
  readonly title: string;
  /** Name of the case that the others are divided by. */
  readonly baseline: string;
  /** One call of a case does `operations` operations. Asynchronous cases are awaited. */
  readonly cases: Readonly<Record<string, () => unknown>>;
  /** Operations that one call of a case stands for. Default 1. */
  readonly operations?: number;
  /** Counted rounds. Default 15; one more runs first, uncounted, to warm up. */
  readonly rounds?: number;
  /**
   * What is asked of a case. `speed`: baseline time / case time, at least `min` (1 = as fast as the baseline).
   * `time`: case time / baseline time, at most `max`.
   */
  readonly targets?: Readonly<Record<string, Target>>;
}

export type Target = { readonly kind: 'speed'; readonly min: number } | { readonly kind: 'time'; readonly max: number };

export interface CaseResult {
  readonly name: string;
  /** Median, lowest and highest time of one operation over the rounds, in microseconds. */
  readonly us: Spread;
  /** Case time / baseline time, round by round: median, lowest, highest. */
  readonly ratio: Spread;
  /** Whether the target holds; `undefined` without one. */
  readonly met: boolean | undefined;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Measures, prints a table, and returns the figures. */
export async function compare(options: CompareOptions): Promise<CaseResult[]> {
  const { baseline, cases, operations = 1, rounds = 15, targets = {} } = options;
  if (!cases[baseline]) throw new Error(`compare: the baseline '${baseline}' is no case of '${options.title}'.`);
  const names = Object.keys(cases);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));

  for (let round = -1; round < rounds; round++) {
    // Every other round runs backwards, so that no case always profits from its neighbour.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const run = cases[name]!;
      const start = process.hrtime.bigint();
      await run();
      const us = Number(process.hrtime.bigint() - start) / 1000 / operations;
      if (round >= 0) times.get(name)!.push(us);
    }
  }

  const base = times.get(baseline)!;
  const results = names.map((name): CaseResult => {
    const own = times.get(name)!;
    const ratio = spread(own.map((us, round) => us / base[round]!));
    return { name, us: spread(own), ratio, met: isMet(targets[name], ratio.median) };
  });
  printTable(
    `${options.title} (median of ${rounds} interleaved rounds, baseline: ${baseline})`,
    ['case', 'µs/op', 'µs/op min–max', 'time ratio', 'ratio min–max', 'speed ratio', 'target', 'met'],
    results.map((r) => [
      r.name,
      number(r.us.median),
      `${number(r.us.min)}–${number(r.us.max)}`,
      r.ratio.median.toFixed(3),
      `${r.ratio.min.toFixed(2)}–${r.ratio.max.toFixed(2)}`,
      (1 / r.ratio.median).toFixed(3),
      targetText(targets[r.name]),
      r.met === undefined ? '' : r.met ? 'yes' : 'NO',
    ]),
  );
  return results;
}

/** Prints rows as a Markdown table under a heading. */
export function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]) => `| ${widths.map((width, i) => (row[i] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  process.stdout.write(`\n### ${title}\n\n${[line(head), rule, ...rows.map(line)].join('\n')}\n`);
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Quantile of values that are already sorted, between neighbours by linear interpolation. */
export function quantile(sorted: readonly number[], q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * q;
  const low = sorted[Math.floor(position)]!;
  const high = sorted[Math.ceil(position)]!;
  return low + (high - low) * (position % 1);
}

function isMet(target: Target | undefined, ratio: number): boolean | undefined {
  if (!target) return undefined;
  return target.kind === 'speed' ? 1 / ratio >= target.min : ratio <= target.max;
}

function targetText(target: Target | undefined): string {
  if (!target) return '';
  return target.kind === 'speed' ? `speed ≥ ${target.min}` : `time ≤ ${target.max}`;
}

function number(us: number): string {
  return us >= 100 ? us.toFixed(0) : us >= 1 ? us.toFixed(2) : us.toFixed(4);
}
