/** What a Redis that is killed in the middle of traffic loses of what it had confirmed, by `appendfsync`. */
import { printTable, spread } from '@mcp-interlock/test-kit/bench';
import { type CrashReport, crashRedis } from '../test/faults/redis-crash.js';

const ROUNDS = 5;
const RUNS = 2_000;

export async function benchRedisCrash(): Promise<void> {
  const rows: string[][] = [];
  for (const appendfsync of ['always', 'everysec', 'no'] as const) {
    const reports: CrashReport[] = [];
    for (let round = 0; round < ROUNDS; round += 1) reports.push(await crashRedis({ appendfsync, runs: RUNS }));
    const range = (pick: (report: CrashReport) => number) => {
      const { min, median, max } = spread(reports.map(pick));
      return `${median} (${min}–${max})`;
    };
    rows.push([
      appendfsync === 'no' ? 'no AOF' : appendfsync,
      range((report) => report.stored),
      range((report) => report.lost),
      range((report) => report.consumed),
      range((report) => report.cameBack),
      range((report) => report.unknown),
      range((report) => report.damaged),
    ]);
  }
  printTable(
    `redis-server killed with SIGKILL in the middle of traffic and started again (median and range of ${ROUNDS} kills)`,
    ['appendfsync', 'confirmed stored', 'of these lost', 'confirmed consumed', 'of these back', 'in flight', 'damaged'],
    rows,
  );
}
