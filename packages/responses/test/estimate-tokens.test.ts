import fc from 'fast-check';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { estimateTokens } from '../src/index.js';
import { shapes } from './support/shapes.js';

describe('the built-in estimate', () => {
  test.each(shapes.map((shape) => [shape.name, shape] as const))(
    'is within 10 %% of o200k on %s as JSON',
    (_name, shape) => {
      const text = JSON.stringify(shape.make(100));
      expect(Math.abs(estimateTokens(text) / o200k(text) - 1)).toBeLessThan(0.1);
    },
  );

  test('is within 15 % on prose in several languages', () => {
    const texts = [
      'The quick brown fox jumps over the lazy dog, and then it sleeps until the sun comes up again.',
      'Die Bestellung wurde wegen eines Sturms verspätet geliefert; der Kunde bat um eine Erstattung.',
      '注文は嵐のために遅れて発送され、お客様は一部返金を求めました。',
      'Заказ был отправлен с опозданием из-за шторма, и клиент попросил частичный возврат.',
    ];
    const total = (count: (text: string) => number) => texts.reduce((sum, text) => sum + count(text), 0);
    expect(Math.abs(total(estimateTokens) / total(o200k) - 1)).toBeLessThan(0.15);
  });

  test('is a whole number for any text, and 0 for none', () => {
    expect(estimateTokens('')).toBe(0);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const tokens = estimateTokens(text);
        expect(Number.isInteger(tokens)).toBe(true);
        expect(tokens).toBeGreaterThanOrEqual(text === '' ? 0 : 1);
      }),
    );
  });
});
