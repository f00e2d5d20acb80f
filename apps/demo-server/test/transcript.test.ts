import { describe, expect, it } from 'vitest';
import { transcript } from '../src/tour/transcript.js';

describe('the transcript', () => {
  it('wraps a long answer between words, so that its last sentence is read', () => {
    const sentence = 'A person must approve this payment. '.repeat(6).trim();
    const printed = print(sentence);
    expect(printed.every((row) => row.length <= 122)).toBe(true);
    expect(words(printed)).toBe(sentence);
  });

  it('cuts what would fill the screen: one endless line, and many lines', () => {
    expect(print('x'.repeat(10_000))).toHaveLength(4);
    expect(print('x'.repeat(10_000)).at(-1)).toMatch(/ …$/);
    expect(print('row\n'.repeat(100)).at(-1)).toContain('more lines');
    expect(print('x'.repeat(4 * 108)).at(-1)).toMatch(/x$/);
  });
});

function print(answer: string): string[] {
  const printed: string[] = [];
  transcript((line) => printed.push(line)).answer(answer);
  return printed;
}

function words(rows: readonly string[]): string {
  return rows.map((row) => row.replace('‹', '').trim()).join(' ');
}
