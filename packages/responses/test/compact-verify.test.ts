import { afterEach, describe, expect, test, vi } from 'vitest';
import { compact } from '../src/index.js';
import { textOf } from './support/sdk.js';

const { broken } = vi.hoisted(() => ({ broken: { decode: false } }));

// The real library, but for a decoder that can be made to lose the last row: compact must notice.
vi.mock('@toon-format/toon', async (original) => {
  const toon = await original<typeof import('@toon-format/toon')>();
  const decode: typeof toon.decode = (text, options) => {
    const data = toon.decode(text, options);
    return broken.decode && Array.isArray(data) ? data.slice(0, -1) : data;
  };
  return { ...toon, decode };
});

describe.each([
  ['small', 50],
  ['large', 5000],
])('on %s data', (_name, count) => {
  const rows = Array.from({ length: count }, (_, id) => ({ id, name: `user ${id}`, active: id % 2 === 0 }));
  afterEach(() => {
    broken.decode = false;
  });

  test('a notation that does not decode back to the data is not chosen, however cheap', () => {
    const formats = ['toon-tab', 'toon-comma', 'toon-pipe'] as const;
    expect(textOf(compact(rows, { formats }))).toMatch(/^\[\d+[\t|]?\]\{/);
    broken.decode = true;
    expect(textOf(compact(rows, { formats }))).toBe(JSON.stringify(rows));
  });
});
