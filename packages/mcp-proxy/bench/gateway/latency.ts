/** Latencies of calls that take turns, so that what else the machine does falls on all of them alike. */

export interface LatencyOptions {
  readonly title: string;
  readonly baseline: string;
  readonly cases: Readonly<Record<string, () => Promise<unknown>>>;
  /** Counted rounds; one more runs first, uncounted. Default 15. */
  readonly rounds?: number;
  /** Calls of each case in a round, one of each at a time. Default 200. */
  readonly calls?: number;
  /** The most that the p50 of a case may be, as a multiple of the baseline's. */
  readonly maxRatio?: Readonly<Record<string, number>>;
}

/** Prints p50 and p99 of each case and the ratio of the p50s (median of the rounds, with their spread); whether targets are met. */
export async function compareLatencies(options: LatencyOptions): Promise<boolean> {
  const { rounds = 15, calls = 200, maxRatio = {} } = options;
  const names = Object.keys(options.cases);
  const all = new Map<string, number[]>(names.map((name) => [name, []]));
  const ratios = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    const times = new Map<string, number[]>(names.map((name) => [name, []]));
    for (let call = 0; call < calls; call += 1) {
      for (const name of call % 2 === 0 ? names : names.toReversed()) {
        const start = process.hrtime.bigint();
        await options.cases[name]?.();
        times.get(name)?.push(Number(process.hrtime.bigint() - start) / 1000);
      }
    }
    if (round < 0) continue;
    const base = quantile(times.get(options.baseline) ?? [], 0.5);
    for (const name of names) {
      const own = times.get(name) ?? [];
      all.get(name)?.push(...own);
      ratios.get(name)?.push(quantile(own, 0.5) / base);
    }
  }
  console.log(
    `\n${options.title} (${rounds} rounds of ${calls} calls that take turns, baseline: ${options.baseline})\n`,
  );
  console.log(`${'case'.padEnd(28)} p50 µs   p99 µs   p50 ratio   (min–max)     target`);
  let met = true;
  for (const name of names) {
    const own = all.get(name) ?? [];
    const own50 = quantile(own, 0.5);
    const ratio = ratios.get(name) ?? [];
    const median = quantile(ratio, 0.5);
    const limit = maxRatio[name];
    const verdict = limit === undefined ? '' : `≤ ${limit}: ${median <= limit ? 'met' : 'NOT MET'}`;
    met &&= limit === undefined || median <= limit;
    const spread = `(${Math.min(...ratio).toFixed(2)}–${Math.max(...ratio).toFixed(2)})`;
    console.log(
      `${name.padEnd(28)} ${own50.toFixed(0).padStart(6)} ${quantile(own, 0.99).toFixed(0).padStart(8)} ${median.toFixed(3).padStart(11)}   ${spread.padEnd(12)}  ${verdict}`,
    );
  }
  return met;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
