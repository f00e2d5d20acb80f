import { describe, expect, test } from 'vitest';
import { aggregateMcpServers, McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, providerOf } from '../support/fake-upstream.js';

const whole = (resourceId: string, serverName: string) => ({ resourceId, serverName });
const single = (resourceId: string, serverName: string, toolName: string) => ({ resourceId, serverName, toolName });

describe('declarations become one spec a server', () => {
  test('nothing declared gives no spec', () => {
    expect(aggregateMcpServers([])).toEqual([]);
  });

  test('several resources of one server are one spec with all their ids, in the order of mention', () => {
    expect(aggregateMcpServers([whole('a', 'fs'), whole('b', 'git'), whole('c', 'fs')])).toEqual([
      { serverName: 'fs', resourceIds: ['a', 'c'] },
      { serverName: 'git', resourceIds: ['b'] },
    ]);
  });

  test('declared tools are the allowed tools', () => {
    expect(
      aggregateMcpServers([], [single('a', 'fs', 'read'), single('b', 'fs', 'write'), single('c', 'fs', 'read')]),
    ).toEqual([{ serverName: 'fs', resourceIds: ['a', 'b', 'c'], allowedTools: ['read', 'write'] }]);
  });

  test('a whole server wins over single tools of it, whichever is declared', () => {
    const [spec] = aggregateMcpServers([whole('a', 'fs')], [single('b', 'fs', 'read')]);
    expect(spec).toEqual({ serverName: 'fs', resourceIds: ['a', 'b'] });
    expect(spec).not.toHaveProperty('allowedTools');
  });

  test('a server may be called like a property of every object', () => {
    expect(
      aggregateMcpServers([whole('a', '__proto__'), whole('b', 'constructor')]).map((spec) => spec.serverName),
    ).toEqual(['__proto__', 'constructor']);
  });
});

describe('specs given to the proxy', () => {
  test('two specs of one name are one connection, and no list at all wins over every list', async () => {
    const fs = new FakeUpstream([aTool('read'), aTool('write')]);
    const proxy = new McpProxyTool(providerOf({ fs }), [
      { serverName: 'fs', resourceIds: ['a'], allowedTools: ['read'] },
      { serverName: 'fs', resourceIds: ['b'] },
    ]);
    expect(await proxy.resolve('a', 'write')).toBeDefined();
    expect(await proxy.resolve('b', 'read')).toBeDefined();
    expect(fs.connects).toBe(1);
  });

  test.each([
    [{ serverName: '', resourceIds: [] }, /serverName/],
    [{ serverName: 'fs', resourceIds: 'a' }, /resourceIds of server "fs"/],
    [{ serverName: 'fs', resourceIds: [], allowedTools: 'read' }, /allowedTools of server "fs"/],
    [{ serverName: 'fs', resourceIds: [], blockedTools: [1] }, /blockedTools of server "fs"/],
    [{ serverName: 'fs', resourceIds: [], connectTimeoutMs: 0 }, /connectTimeoutMs of server "fs"/],
    [undefined, /no serverName/],
  ])('a spec that cannot be used is refused with the field named: %j', (spec, message) => {
    // biome-ignore lint/suspicious/noExplicitAny: a host without types can pass anything.
    expect(() => new McpProxyTool(providerOf({}), [spec as any])).toThrow(message);
  });

  test.each([
    [{ connectTimeoutMs: -1 }, 'connectTimeoutMs'],
    [{ backoff: { factor: 0 } }, 'backoff.factor'],
    [{ output: { maxBytes: Number.NaN } }, 'output.maxBytes'],
    [{ output: { maxLines: 0 } }, 'output.maxLines'],
    [{ search: { limit: 0 } }, 'search.limit'],
    [{ rankCandidates: -5 }, 'rankCandidates'],
  ])('an option that cannot be used is refused with its name: %j', (options, name) => {
    expect(() => new McpProxyTool(providerOf({}), [], options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(name) }),
    );
  });
});
