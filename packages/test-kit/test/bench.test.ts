import { expect, it } from 'vitest';
import { quantile, spread } from '../src/bench.js';

it('takes the median between the two middle values', () => {
  expect(spread([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
  expect(quantile([1, 2, 3, 4, 5], 0.99)).toBeCloseTo(4.96);
});
