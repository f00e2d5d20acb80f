import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from '../src/options.js';

describe('the command line', () => {
  it('serves HTTP on loopback by default', () => {
    expect(readOptions([], {})).toMatchObject({ mode: 'http', host: '127.0.0.1', port: 4747, redisUrl: undefined });
  });

  it.each([
    [['--port', 'x'], '--port'],
    [['--port', '70000'], '--port'],
    [['--stdio', '--tour'], '--stdio'],
    [['--nonsense'], '--nonsense'],
    [['--approval-limit', '-1'], '--approval-limit'],
  ])('refuses %j and names the option', (argv, named) => {
    expect(() => readOptions(argv, {})).toThrow(UsageError);
    expect(() => readOptions(argv, {})).toThrow(named);
  });

  it('refuses a Redis URL that is none, without repeating it: it holds a password', () => {
    expect(() => readOptions([], { REDIS_URL: 'http://user:secret@host' })).toThrow(/REDIS_URL/);
    expect(() => readOptions([], { REDIS_URL: 'http://user:secret@host' })).not.toThrow(/secret/);
  });
});
