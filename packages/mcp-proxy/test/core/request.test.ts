import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProxyArgs } from '../../src/index.js';
import { readRequest } from '../../src/request.js';

const requestOf = (args: unknown) => {
  const read = readRequest(args);
  return read.kind === 'request' ? read.request : read;
};

describe('arguments of the mcp tool', () => {
  test.each([undefined, null, 'search', 7, true, [], ['search'], {}])('%j asks for the status', (args) => {
    expect(parseProxyArgs(args)).toEqual({});
    expect(requestOf(args)).toEqual({ kind: 'status' });
  });

  test('known fields are taken, unknown ones ignored', () => {
    expect(parseProxyArgs({ search: 'x', server: 's', args: { a: 1 }, other: 1 })).toEqual({
      search: 'x',
      server: 's',
      args: { a: 1 },
    });
  });

  test('tool wins over connect over describe over search over server over status', () => {
    const all = { tool: 't', connect: 'c', describe: 'd', search: 'q', server: 's', status: true };
    const { tool: _t, ...withoutTool } = all;
    const { connect: _c, ...withoutConnect } = withoutTool;
    const { describe: _d, ...withoutDescribe } = withoutConnect;
    const { search: _q, ...withoutSearch } = withoutDescribe;
    expect(requestOf(all)).toEqual({ kind: 'call', tool: 't', server: 's', args: {} });
    expect(requestOf(withoutTool)).toEqual({ kind: 'connect', server: 'c' });
    expect(requestOf(withoutConnect)).toEqual({ kind: 'describe', tool: 'd', server: 's' });
    expect(requestOf(withoutDescribe)).toEqual({ kind: 'search', query: 'q', server: 's' });
    expect(requestOf(withoutSearch)).toEqual({ kind: 'list', server: 's' });
    expect(requestOf({ status: true })).toEqual({ kind: 'status' });
  });

  test('blank text and null are fields that were left out, as strict function calling sends them', () => {
    const args = { tool: '', connect: null, describe: ' ', search: 'weather', server: '', args: null };
    expect(readRequest(args)).toEqual({ kind: 'request', request: { kind: 'search', query: 'weather' }, notes: [] });
  });

  test('a field of a wrong type counts as not given, and the answer says so', () => {
    const read = readRequest({ tool: 5, search: ['a'], server: 'fs', status: 'yes' });
    expect(read).toMatchObject({ kind: 'request', request: { kind: 'list', server: 'fs' } });
    expect(read.notes.join(' ')).toMatch(/"tool" was ignored.*"search" was ignored.*an array.*"status" was ignored/);
  });

  test.each([
    ['{"path":"/a"}', { path: '/a' }],
    ['  ', {}],
    [undefined, {}],
    [null, {}],
    [{ path: '/a' }, { path: '/a' }],
  ])('args may be an object, JSON text of one, or nothing: %j', (args, expected) => {
    expect(requestOf({ tool: 't', args })).toEqual({ kind: 'call', tool: 't', args: expected });
  });

  test.each([
    ['{"path":', /no valid JSON/],
    ['[1]', /JSON text of an array/],
    [[1], /not an array/],
    [5, /not a number/],
  ])('args that are no object are refused with what to do: %j', (args, reason) => {
    expect(requestOf({ tool: 't', args })).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(reason) });
  });

  test('nothing that is passed in makes it throw, and inherited fields are not given', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true }), (args) => {
        expect(['request', 'invalid']).toContain(readRequest(args).kind);
      }),
    );
    expect(parseProxyArgs(Object.create({ search: 'inherited' }))).toEqual({});
    const hostile = {
      get search(): string {
        throw new Error('no');
      },
    };
    expect(parseProxyArgs(hostile)).toEqual({});
  });
});
