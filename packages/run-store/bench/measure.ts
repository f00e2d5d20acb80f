/**
 * Interleaved rounds of asynchronous operations, some in flight at once: throughput as a ratio to a baseline of the same
 * round, and the latency of each operation for the tail.
 */
import { quantile, type Spread, spread } from '@mcp-interlock/test-kit/bench';

export interface BenchCase {
  readonly name: string;
  /** Name of the case that this one is compared with; a baseline names itself. */
  readonly baseline: string;
  /** Puts in place what the operations of a round need; not timed. Round −1 warms up. */
  prepare?(round: number): Promise<unknown>;
  /** One operation. */
  run(operation: number): Promise<unknown>;
}

export interface MeasureOptions {
  readonly cases: readonly BenchCase[];
  readonly operations: number;
  readonly inFlight: number;
  readonly rounds: number;
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

export async function measure(options: MeasureOptions): Promise<Measured[]> {
  const rounds = new Map<string, Round[]>(options.cases.map(({ name }) => [name, []]));
  for (let round = -1; round < options.rounds; round += 1) {
    // Every other round runs backwards, so that no case always profits from its neighbour.
    for (const one of round % 2 === 0 ? options.cases : options.cases.toReversed()) {
      await one.prepare?.(round);
      const measured = await timeRound(one, options);
      if (round >= 0) rounds.get(one.name)!.push(measured);
    }
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

async function timeRound(one: BenchCase, { operations, inFlight }: MeasureOptions): Promise<Round> {
  const latencies: number[] = [];
  let next = 0;
  const worker = async () => {
    while (next < operations) {
      const operation = next++;
      const began = performance.now();
      await one.run(operation);
      latencies.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Math.min(inFlight, operations) }, worker));
  const us = ((performance.now() - began) * 1000) / operations;
  latencies.sort((a, b) => a - b);
  return { us, p99: quantile(latencies, 0.99) * 1000 };
}
