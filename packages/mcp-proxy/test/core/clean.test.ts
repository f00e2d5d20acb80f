import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanLine, cleanText, clip } from '../../src/index.js';
import { reasonOf } from '../../src/text/clean.js';

describe('text of unknown origin', () => {
  test.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007', 'link'],
    ['\u009b1mx', 'x'],
    ['a\u0000b\u0008c', 'abc'],
    ['user\u202etxt.exe', 'usertxt.exe'],
    ['a\u2066b\u2069c', 'abc'],
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['hidden\u{e0041}\u{e007f}', 'hidden'],
    ['soft\u00adhyphen', 'softhyphen'],
    ['line\r\nbreak\u2028here', 'line\nbreak\nhere'],
    ['tab\tstays', 'tab\tstays'],
    ['👩‍👩‍👧 می‌خواهم', '👩‍👩‍👧 می‌خواهم'],
  ])('%j becomes %j', (dirty, clean) => {
    expect(cleanText(dirty)).toBe(clean);
  });

  test('cleaning leaves nothing to clean, and no lone surrogate', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = cleanText(text);
        expect(cleanText(clean)).toBe(clean);
        expect(clean).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e]|\p{Surrogate}/u);
      }),
    );
  });

  test('a line is one line', () => {
    expect(cleanLine('  a\n\n b\t c ')).toBe('a b c');
  });

  test('cutting happens at a word boundary, and never inside of a character', () => {
    expect(clip('Reads the contents of a file', 20)).toBe('Reads the contents…');
    expect(clip('short', 20)).toBe('short');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, max) => {
        expect(clip(text, max).length).toBeLessThanOrEqual(Math.max(max, 1));
        expect(clip(text, max)).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  test.each([
    [new Error('boom\u001b[2J'), 'boom'],
    ['text', 'text'],
    [{ message: 'from afar' }, 'from afar'],
    [undefined, 'no reason given'],
    [Object.create(null), 'no reason given'],
  ])('the reason of %o is %j', (thrown, reason) => {
    expect(reasonOf(thrown)).toBe(reason);
  });
});
