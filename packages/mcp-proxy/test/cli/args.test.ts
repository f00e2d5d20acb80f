import { describe, expect, it } from 'vitest';
import { HELP, parseCommand } from '../../src/cli/args.js';

describe('the command line', () => {
  it.each([
    [[], { kind: 'serve', transport: 'stdio', approve: 'none', pins: 'on' }],
    [['--config', 'a.json', '-c', 'b.json'], { kind: 'serve', configs: ['a.json', 'b.json'] }],
    [
      ['serve', '--http', '8808', '--token-env', 'T'],
      { transport: 'http', port: 8808, hostname: '127.0.0.1', tokenVariable: 'T' },
    ],
    [['--direct', 'a/b', '--direct', 'c/d/e'], { direct: ['a/b', 'c/d/e'] }],
    [['--approve', 'changes', '--no-pins'], { approve: 'changes', pins: 'off' }],
    [['status', '--json'], { kind: 'status', json: true }],
    [['search', 'read', 'a', 'file', '-s', 'fs'], { kind: 'search', query: 'read a file', server: 'fs' }],
    [['describe', 'echo'], { kind: 'describe', tool: 'echo' }],
    [['call', 'echo', '{"a":1}'], { kind: 'call', tool: 'echo', args: '{"a":1}' }],
    [['call', 'echo'], { kind: 'call', args: '{}' }],
    [['login', 'notion', '--port', '4444'], { kind: 'login', server: 'notion', port: 4444 }],
    [['approve', 'a', 'x', 'y'], { kind: 'approve', server: 'a', tools: ['x', 'y'] }],
    [['--help'], { kind: 'help' }],
    [['help'], { kind: 'help' }],
    [['--version'], { kind: 'version' }],
  ])('%j is understood', (argv, expected) => {
    expect(parseCommand(argv)).toMatchObject(expected);
  });

  it.each([
    [['frobnicate'], 'no command "frobnicate"'],
    [['search'], 'needs what to search for'],
    [['call'], 'needs the name of a tool'],
    [['--http', 'abc'], '"abc" is no port'],
    [['--http', '70000'], '"70000" is no port'],
    [['--direct', 'nameless'], 'write it as server/tool'],
    [['--approve', 'sometimes'], 'use none, changes, all'],
    [['--unknown'], '--help'],
  ])('%j is told what to write instead', (argv, message) => {
    expect(() => parseCommand(argv)).toThrow(message);
    // Whoever prints it says whose message it is.
    expect(() => parseCommand(argv)).not.toThrow(/^mcp-proxy/);
  });

  it('has a help that names every command', () => {
    for (const command of ['status', 'search', 'describe', 'call', 'login', 'approve']) expect(HELP).toContain(command);
  });
});
