import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createToolIndex, type ListedTool, searchByOr, type ToolSearchOptions } from '../../src/index.js';

const tool = (serverName: string, name: string, description = '', inputSchema: unknown = {}): ListedTool => ({
  serverName,
  tool: { name, description, inputSchema },
});

const CATALOGUE: readonly ListedTool[] = [
  tool('files', 'readTextFile', 'Reads the contents of a file as text.'),
  tool('files', 'write_file', 'Creates a file or overwrites it.', {
    properties: { encoding: { description: 'utf8 or latin1' } },
  }),
  tool('files', 'list_directory', 'Lists what is in a directory.'),
  tool('mail', 'send_message', 'Sends an email to one or several people.'),
  tool('mail', 'search_messages', 'Searches the mailbox.'),
  tool('weather', 'get_forecast', 'Weather forecast for a city.', { properties: { city: { enum: ['Oslo', 'Rome'] } } }),
  tool('git', 'git.merge', 'Merges a branch into another one.'),
  tool('news-cn', 'get-hot-list', '获取热榜，包含时事热点与新闻资讯'),
  tool('time', 'get_current_time', 'Current time in a timezone.'),
];

function names(
  query: string,
  options: ToolSearchOptions & { catalogue?: readonly ListedTool[]; limit?: number } = {},
): string[] {
  const { catalogue = CATALOGUE, limit = 10, ...search } = options;
  return createToolIndex(catalogue, search)
    .search(query, { limit })
    .hits.map((hit) => hit.tool.name);
}

describe('a search', () => {
  test.each([
    ['read text', 'readTextFile'],
    ['merging branches', 'git.merge'],
    ['readTextFile', 'readTextFile'],
    ['git.merge', 'git.merge'],
    ['latin1 encoding', 'write_file'],
    ['Rome', 'get_forecast'],
    ['mail people', 'send_message'],
    ['weather', 'get_forecast'],
    ['trending news', 'get-hot-list'],
    ['热榜', 'get-hot-list'],
    ['folder', 'list_directory'],
    ['get current time', 'get_current_time'],
    ['save it to /tmp/out.md', 'write_file'],
  ])('for %j finds %j first', (query, name) => {
    expect(names(query)[0]).toBe(name);
  });

  test('rare words weigh more than frequent ones', () => {
    const catalogue = [
      ...Array.from({ length: 20 }, (_, index) => tool('s', `file_tool_${index}`, 'Works on a file.')),
      tool('s', 'thumbnail', 'Makes a thumbnail of a file.'),
    ];
    expect(names('file thumbnail', { catalogue })[0]).toBe('thumbnail');
  });

  test('several wishes in one query each get a share, though one of them matches many tools', () => {
    const catalogue = [
      ...Array.from({ length: 30 }, (_, index) =>
        tool('db', `query_table_${index}`, 'Queries rows of a database table.'),
      ),
      ...CATALOGUE,
    ];
    const found = names('query the database table rows, merge a branch and send a message', { catalogue });
    expect(found).toContain('git.merge');
    expect(found).toContain('send_message');
    expect(found.filter((name) => name.startsWith('query_table')).length).toBeGreaterThanOrEqual(5);
  });

  test('wishes that are listed are answered in turns', () => {
    expect(names('merge a branch; weather; read text').slice(0, 3)).toEqual([
      'git.merge',
      'get_forecast',
      'readTextFile',
    ]);
  });

  test('of tools with the same name one gives way, so that the other place is another tool', () => {
    const catalogue = [
      tool('a', 'read_file', 'Reads a file.'),
      tool('b', 'read_file', 'Reads a file.'),
      tool('c', 'view_text', 'Reads a text file.'),
      ...CATALOGUE.slice(3),
    ];
    expect(names('read a file', { catalogue }).slice(0, 3)).toEqual(['read_file', 'view_text', 'read_file']);
  });

  test('stays within the servers that were asked for', () => {
    const { hits, matched } = createToolIndex(CATALOGUE).search('file message', { servers: new Set(['mail']) });
    expect(new Set(hits.map((hit) => hit.serverName))).toEqual(new Set(['mail']));
    expect(matched).toBe(2);
  });

  test('takes no longer for a file that was pasted into the query', () => {
    const query = `what is this image? ${'iVBORw0KGgoAAAANSUhEUg'.repeat(2_000)} merge branches`;
    expect(names(query, { limit: 3 }).length).toBeLessThanOrEqual(3);
  });
});

describe('a search is never empty when any tool contains any of the words', () => {
  test.each(['the', 'into', 'a', 'eads', 'utf', 'atin1', 'zzz OVERWRIT', 'cit'])('%j finds something', (query) => {
    expect(names(query).length).toBeGreaterThan(0);
  });

  test('any piece of any tool finds a tool', () => {
    const texts = CATALOGUE.map(
      ({ serverName, tool: { name, description } }) => `${serverName} ${name} ${description}`,
    );
    const piece = fc.constantFrom(...texts).chain((text) =>
      fc.tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: 12 })).map(([start, length]) =>
        text
          .slice(start, start + length)
          .split(/\s+/)
          .find((word) => word !== ''),
      ),
    );
    fc.assert(
      fc.property(piece, fc.string({ maxLength: 10 }), (word, other) => {
        fc.pre(word !== undefined);
        expect(names(`${other} ${word}`).length).toBeGreaterThan(0);
      }),
    );
  });

  test('and empty when none does', () => {
    expect(names('ΩΩΩ')).toEqual([]);
    expect(names('   ')).toEqual([]);
    expect(createToolIndex([]).search('x')).toEqual({ hits: [], matched: 0 });
  });

  test('it never throws, whatever is asked of whatever catalogue', () => {
    const listed = fc.record({
      serverName: fc.string(),
      tool: fc.record({ name: fc.string(), description: fc.string({ unit: 'binary' }), inputSchema: fc.anything() }),
    });
    fc.assert(
      fc.property(fc.array(listed, { maxLength: 5 }), fc.string({ unit: 'binary' }), (catalogue, query) => {
        expect(names(query, { catalogue }).length).toBeLessThanOrEqual(catalogue.length);
      }),
    );
  });
});

describe('every table can be switched off', () => {
  test('synonyms', () => {
    expect(names('folder', { synonyms: 'off' })).not.toContain('list_directory');
    expect(names('folder', { synonyms: ['folder mailbox'] })[0]).toBe('search_messages');
  });

  test('the glossary', () => {
    expect(names('news', { glossary: 'off', catalogue: [CATALOGUE[7]!, CATALOGUE[0]!] })[0]).toBe('get-hot-list');
    expect(names('finance', { glossary: { finance: '时事' } })[0]).toBe('get-hot-list');
    expect(names('finance', { glossary: 'off' })).not.toContain('get-hot-list');
    expect(names('wetter', { glossary: { wetter: 'weather' } })[0]).toBe('get_forecast');
  });

  test('cues', () => {
    expect(names('save it to /tmp/out.md', { cues: 'off' })[0]).not.toBe('list_directory');
    expect(names('tomorrow', { cues: 'off' })).not.toContain('get_current_time');
    expect(names('tomorrow')).toContain('get_current_time');
  });

  test('stop words and weak words', () => {
    expect(names('one', { stopWords: 'off', weakWords: 'off' }).length).toBeGreaterThan(0);
  });
});

test('the plain OR search of the contract: any word, name or description, catalogue order', () => {
  expect(searchByOr(CATALOGUE, 'FILE email').map((hit) => hit.tool.name)).toEqual([
    'readTextFile',
    'write_file',
    'send_message',
  ]);
  expect(searchByOr(CATALOGUE, ' ')).toEqual([]);
});
