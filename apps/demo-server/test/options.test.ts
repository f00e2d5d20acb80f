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
    [['--port', ' '], '--port'],
    [['--port', '0x10'], '--port'],
    [['--host', ''], '--host'],
    [['--data', ''], '--data'],
    [['--approval-limit', '-1'], '--approval-limit'],
    [['--approval-limit', ''], '--approval-limit'],
    [['--tour', '--approval-limit', '10'], '--approval-limit must be an amount in euros, for a tour from 98'],
    [['--tour', '--approval-limit', '900000'], '--approval-limit'],
  ])('refuses %j and names the option', (argv, named) => {
    expect(() => readOptions(argv, {})).toThrow(UsageError);
    expect(() => readOptions(argv, {})).toThrow(named);
  });

  it('refuses a data folder that would not be used, because everything is in Redis', () => {
    expect(() => readOptions(['--data', 'here'], { REDIS_URL: 'redis://localhost' })).toThrow(/--data and REDIS_URL/);
  });

  it('refuses a Redis URL that is none, without repeating it: it holds a password', () => {
    expect(() => readOptions([], { REDIS_URL: 'http://user:secret@host' })).toThrow(/REDIS_URL/);
    expect(() => readOptions([], { REDIS_URL: 'http://user:secret@host' })).not.toThrow(/secret/);
  });
});
