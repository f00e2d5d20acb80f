import { compare } from '@mcp-interlock/test-kit/bench';
import { success } from '../src/success.js';
import { shapeOfSize, shapes } from '../test/support/shapes.js';

/**
 * `success` against `JSON.stringify` with the same indentation. What it adds, an object with its mark, costs about half a
 * microsecond whatever the size, so the target is asked from 5 KB on; the first row shows the fixed cost.
 */
export async function benchSuccess(): Promise<void> {
  const rows = shapes.find((shape) => shape.name === 'rows')!;
  for (const { bytes, operations } of [
    { bytes: 100, operations: 20_000 },
    { bytes: 5_000, operations: 200 },
    { bytes: 20_000, operations: 50 },
    { bytes: 100_000, operations: 10 },
    { bytes: 1_000_000, operations: 2 },
  ]) {
    const data = shapeOfSize(rows, bytes);
    let sink: unknown;
    const repeat = (run: () => unknown) => () => {
      for (let i = 0; i < operations; i++) sink = run();
      return sink;
    };
    await compare({
      title: `success() on ${bytes.toLocaleString('en')} bytes of rows`,
      baseline: 'JSON.stringify',
      operations,
      // A few per cent are to be told apart, on machines that do other things too: many short rounds.
      rounds: 101,
      cases: {
        'JSON.stringify': repeat(() => JSON.stringify(data, null, 2)),
        success: repeat(() => success(data)),
      },
      ...(bytes >= 1000 ? { targets: { success: { kind: 'speed', min: 0.95 } } } : {}),
    });
  }
}
