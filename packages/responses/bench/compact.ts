import { compare } from '@mcp-interlock/test-kit/bench';
import { encode } from '@toon-format/toon';
import { compact } from '../src/compact/compact.js';
import { formatNamed } from '../src/compact/formats.js';
import { shapeOfSize, shapes } from '../test/support/shapes.js';

const MEGABYTE = 1_000_000;

/** What choosing costs: `compact` against one encoding in the notation that it chose, and both against the others. */
export async function benchCompact(): Promise<void> {
  for (const shape of shapes) {
    const data = shapeOfSize(shape, MEGABYTE);
    if (JSON.stringify(data).length < MEGABYTE / 2) continue; // Some shapes have one size only.
    const { format: name } = compact(data)._meta['interlock/compact'] as { format: string };
    const format = formatNamed(name)!;
    await compare({
      title: `compact() on 1 MB of '${shape.name}'`,
      baseline: `encoding once as ${name}`,
      rounds: 31,
      cases: {
        [`encoding once as ${name}`]: () => format.encode(data),
        compact: () => compact(data),
        'JSON.stringify': () => JSON.stringify(data),
        'TOON encode (tab)': () => encode(data, { delimiter: '\t' }),
      },
      targets: { compact: { kind: 'time', max: 1.5 } },
    });
  }
}
