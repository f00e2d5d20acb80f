import { printTable } from '@mcp-interlock/test-kit/bench';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from '../src/compact/estimate-tokens.js';
import { FORMATS } from '../src/compact/formats.js';
import { shapes } from '../test/support/shapes.js';

/** How far the built-in estimate is from o200k, shape by shape and notation by notation. */
export function benchEstimate(): void {
  const errors: number[] = [];
  const rows = shapes.map((shape) => {
    const data = shape.make(100);
    const texts = [JSON.stringify(data, null, 2), ...FORMATS.map((format) => format.encode(data))];
    return [
      shape.name,
      ...texts.map((text) => {
        if (text === undefined) return '';
        const error = estimateTokens(text) / countTokens(text) - 1;
        errors.push(Math.abs(error));
        return `${error > 0 ? '+' : ''}${(error * 100).toFixed(1)} %`;
      }),
    ];
  });
  printTable(
    'Error of estimateTokens() against o200k',
    ['shape', 'pretty', ...FORMATS.map((format) => format.name)],
    rows,
  );
  errors.sort((a, b) => a - b);
  const percent = (value: number | undefined) => `${((value ?? 0) * 100).toFixed(1)} %`;
  process.stdout.write(
    `\nmedian error ${percent(errors[errors.length >> 1])}, 90th percentile ${percent(errors[Math.floor(errors.length * 0.9)])}, worst ${percent(errors.at(-1))}\n`,
  );
}
