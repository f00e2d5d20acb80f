/**
 * Interleaved rounds of asynchronous operations, some in flight at once: throughput as a ratio to a baseline of the same
 * round, and the latency of each operation for the tail. Within a round the cases take turns slice by slice, so that what
 * else the machine does hits all of them alike.
 */
import { quantile, type Spread, spread } from '@mcp-interlock/test-kit/bench';
import { mulberry32 } from './states.js';

export interface BenchCase {
  readonly name: string;
  /** Name of the case that this one is compared with; a baseline names itself. */
  readonly baseline: string;
  /** Puts in place what the operations of a round need; not timed. */
  prepare?(): Promise<unknown>;
  /** One operation. */
  run(operation: number): Promise<unknown>;
}

export interface MeasureOptions {
  readonly cases: readonly BenchCase[];
  /** Operations of a case in a round. */
  readonly operations: number;
  readonly inFlight: number;
  readonly rounds: number;
  /** Before the cases of a round are prepared; not timed. Round −1 warms up. */
  beforeRound?(round: number): Promise<unknown>;
}

export interface Measured {
  readonly name: string;
  /** Wall time of one operation in microseconds. */
  readonly us: Spread;
  /** Baseline time / case time, round by round: 1 is as fast as the baseline. */
  readonly speed: Spread;
  /** Case's 99th percentile of latency / baseline's, round by round. */
  readonly p99Ratio: Spread;
}

interface Round {
  readonly us: number;
  readonly p99: number;
}

/** Slices are as short as they can be without the beginning and the end of each counting for much. */
const SLICE_OPERATIONS = { each: 64, inFlight: 4 };

interface Range {
  readonly from: number;
  readonly to: number;
}

function slicesOf({ operations, inFlight }: MeasureOptions): Range[] {
  const length = Math.max(SLICE_OPERATIONS.each, SLICE_OPERATIONS.inFlight * inFlight);
  const count = Math.max(1, Math.floor(operations / length));
  const edge = (slice: number) => Math.round((operations * slice) / count);
  return Array.from({ length: count }, (_, slice) => ({ from: edge(slice), to: edge(slice + 1) }));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  for (let last = rest.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [rest[last], rest[other]] = [rest[other]!, rest[last]!];
  }
  return rest;
}

export async function measure(options: MeasureOptions): Promise<Measured[]> {
  const rounds = new Map<string, Round[]>(options.cases.map(({ name }) => [name, []]));
  const random = mulberry32(1);
  for (let round = -1; round < options.rounds; round += 1) {
    await options.beforeRound?.(round);
    for (const one of options.cases) await one.prepare?.();
    const slices = new Map<string, Slice[]>(options.cases.map(({ name }) => [name, []]));
    for (const range of slicesOf(options)) {
      // In another order every time: collections of garbage come at regular distances, and must not always hit the same.
      for (const one of shuffled(options.cases, random))
        slices.get(one.name)!.push(await timeSlice(one, range, options));
    }
    if (round < 0) continue;
    for (const [name, ofRound] of slices) rounds.get(name)!.push(sumUp(ofRound, options.operations));
  }
  return options.cases.map(({ name, baseline }) => {
    const [own, base] = [rounds.get(name)!, rounds.get(baseline)!];
    return {
      name,
      us: spread(own.map(({ us }) => us)),
      speed: spread(own.map(({ us }, round) => base[round]!.us / us)),
      p99Ratio: spread(own.map(({ p99 }, round) => p99 / base[round]!.p99)),
    };
  });
}

interface Slice {
  readonly ms: number;
  readonly latencies: readonly number[];
}

async function timeSlice(one: BenchCase, { from, to }: Range, { inFlight }: MeasureOptions): Promise<Slice> {
  const latencies: number[] = [];
  let next = from;
  const end = to;
  const worker = async () => {
    while (next < end) {
      const operation = next++;
      const began = performance.now();
      await one.run(operation);
      latencies.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Math.min(inFlight, end - next) }, worker));
  return { ms: performance.now() - began, latencies };
}

function sumUp(slices: readonly Slice[], operations: number): Round {
  const latencies = slices.flatMap((slice) => slice.latencies).sort((a, b) => a - b);
  const ms = slices.reduce((sum, slice) => sum + slice.ms, 0);
  return { us: (ms * 1000) / operations, p99: quantile(latencies, 0.99) * 1000 };
}
