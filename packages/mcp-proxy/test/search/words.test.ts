import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findCues } from '../../src/search/cues.js';
import { stem } from '../../src/search/stem.js';
import { splitWords } from '../../src/search/words.js';

describe('words of names and texts', () => {
  test.each([
    ['readTextFile', ['read', 'text', 'file']],
    ['read_text-file.v2', ['read', 'text', 'file', 'v', '2']],
    ['getHTTPResponse', ['get', 'http', 'response']],
    ["the user's files", ['the', 'user', 'files']],
    ['获取新闻', ['获取', '取新', '新闻']],
    ['ｆｕｌｌ', ['full']],
  ])('%j is %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test.each([
    ['merging', 'merge'],
    ['merged', 'merge'],
    ['queries', 'query'],
    ['files', 'file'],
    ['connection', 'connects'],
    ['conversion', 'conversions'],
    ['repositories', 'repository'],
    ['running', 'run'],
    ['hopping', 'hop'],
    ['agreed', 'agree'],
  ])('%j and %j have one stem', (a, b) => {
    expect(stem(a)).toBe(stem(b));
  });

  test.each([
    ['news', 'news'],
    ['as', 'as'],
    ['generously', 'generous'],
    ['knack', 'knack'],
    ['consistency', 'consist'],
    ['skies', 'sky'],
    ['relational', 'relat'],
    ['happy', 'happi'],
    ['say', 'say'],
  ])('the Porter2 stem of %j is %j', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  test('any text has words, and stemming neither throws nor lengthens much', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const word of splitWords(text)) expect(stem(word).length).toBeLessThanOrEqual(word.length + 1);
      }),
    );
  });
});

describe('cues in a query', () => {
  const cuesOf = (query: string) => findCues(query).cues.map(({ query: words }) => words);

  test.each([
    ['save it to /data/report.md', ['write file']],
    ['Read the file /data/gift.docx', ['read word document text']],
    [
      'make slides in ./talk.pptx and generate them as ./talk2.pptx',
      ['open presentation', 'create presentation save slide'],
    ],
    ['what is in /var/log/nginx', ['list directory']],
    ['summarise https://example.com/a/b?c=d', ['fetch url web page']],
    ['buy a monitor on amazon', ['browser navigate page click fill']],
    ['news of the last 3 days', ['current time date']],
    ['open C:\\data\\sums.xlsx', ['read excel sheet']],
    ['redirect to /login and/or /home', []],
    ['merge the branches', []],
  ])('%j asks for %j', (query, cues) => {
    expect(cuesOf(query)).toEqual(cues);
  });

  test('a path is replaced by what it is, so that its words do not search', () => {
    expect(findCues('convert /data/music/cv.docx').text.replace(/\s+/g, ' ')).toBe('convert word document ');
  });
});
