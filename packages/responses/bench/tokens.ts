import { printTable } from '@mcp-interlock/test-kit/bench';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { getEncoding } from 'js-tiktoken';
import { compact } from '../src/compact/compact.js';
import { FORMATS } from '../src/compact/formats.js';
import { shapes } from '../test/support/shapes.js';

/** Tokens of every shape in every notation, by two tokenizers, and what `compact` keeps. */
export function benchTokens(): void {
  const cl100k = getEncoding('cl100k_base');
  const tokenizers = { o200k, cl100k: (text: string) => cl100k.encode(text).length };
  for (const [name, countTokens] of Object.entries(tokenizers)) {
    printTable(
      `Tokens by ${name}, 100 records a shape (target: compact ≤ json; ≥ 35 % fewer on uniform rows)`,
      ['shape', 'pretty', ...FORMATS.map((format) => format.name), 'compact keeps', 'against json', 'met'],
      shapes.map((shape) => {
        const data = shape.make(100);
        const tokens = FORMATS.map((format) => {
          const text = format.encode(data);
          return text === undefined ? '' : String(countTokens(text));
        });
        const kept = compact(data, { countTokens });
        const { format } = kept._meta['interlock/compact'] as { format: string };
        const saving = 1 - countTokens(kept.content[0]!.text) / Number(tokens[0]);
        return [
          shape.name,
          String(countTokens(JSON.stringify(data, null, 2))),
          ...tokens,
          format,
          `${saving > 0 ? '−' : ''}${(saving * 100).toFixed(1)} %`,
          saving >= (shape.uniform ? 0.35 : 0) ? 'yes' : 'NO',
        ];
      }),
    );
  }
}
