/** The index against the formula, written down plainly: the same tools in the same order with the same scores. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createToolIndex, DEFAULT_WEIGHTS, type ListedTool } from '../../src/index.js';
import { analyseTool, cachedStem, FIELDS } from '../../src/search/analyse-tool.js';
import { STOP_WORDS } from '../../src/search/stop-words.js';

const WORDS = ['invoice', 'branch', 'merge', 'file', 'write', 'customer', 'deploy', 'cluster'];
/** Without its tables, and without what changes an order afterwards. */
const PLAIN = {
  synonyms: 'off',
  glossary: 'off',
  cues: 'off',
  weakWords: 'off',
  weights: { guess: 0, sameName: 1 },
} as const;

function scoresByFormula(tools: readonly ListedTool[], query: readonly string[]): number[] {
  const analysed = tools.map(({ serverName, tool }) => analyseTool(serverName, tool, STOP_WORDS));
  const average = (field: (typeof FIELDS)[number]): number =>
    analysed.reduce((sum, words) => sum + words[field].length, 0) / tools.length || 1;
  const { saturation, lengthPenalty } = DEFAULT_WEIGHTS;
  return analysed.map((words) => {
    let score = 0;
    for (const term of new Set(query.map(cachedStem))) {
      const count = query.filter((word) => cachedStem(word) === term).length;
      const holders = analysed.filter((other) => FIELDS.some((field) => other[field].includes(term))).length;
      let strength = 0;
      for (const field of FIELDS) {
        const length = 1 - lengthPenalty + (lengthPenalty * words[field].length) / average(field);
        strength += (DEFAULT_WEIGHTS[field] * words[field].filter((word) => word === term).length) / length;
      }
      const rarity = Math.log(1 + (tools.length - holders + 0.5) / (holders + 0.5));
      score += ((1 + Math.log(count)) * rarity * strength * (saturation + 1)) / (saturation + strength);
    }
    return score;
  });
}

test('scores and order are those of BM25F', () => {
  const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join(' '));
  const listed = fc.record({
    serverName: fc.constantFrom('files', 'git', 'billing'),
    tool: fc.record({
      name: text.map((words) => words.replaceAll(' ', '_') || 'x'),
      description: text,
      inputSchema: text.map((description) => ({ properties: { target: { description } } })),
    }),
  });
  const query = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(listed, { minLength: 1, maxLength: 12 }),
      query,
      fc.integer({ min: 1, max: 12 }),
      (tools, words, limit) => {
        const expected = scoresByFormula(tools, words);
        const order = tools.map((_, index) => index).filter((index) => expected[index]! > 0);
        const { hits, matched } = createToolIndex(tools, PLAIN).search(words.join(' '), { limit });
        expect(matched).toBe(order.length);
        const best = order.map((index) => expected[index]!).sort((a, b) => b - a);
        // The index keeps strengths in 32 bits.
        expect(hits).toHaveLength(Math.min(limit, order.length));
        for (const [place, hit] of hits.entries()) expect(hit.score).toBeCloseTo(best[place]!, 4);
      },
    ),
  );
});
