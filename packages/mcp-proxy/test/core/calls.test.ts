import { describe, expect, test } from 'vitest';
import {
  type ApprovalRequest,
  type ApproveCall,
  type IMcpProxyToolOptions,
  type IMcpServerSpec,
  McpConnectionError,
  McpProxyTool,
  type ProxyEvent,
} from '../../src/index.js';
import { aGate, aTool, FakeUpstream, providerOf, until } from '../support/fake-upstream.js';

function aProxy(options: IMcpProxyToolOptions & { spec?: Partial<IMcpServerSpec>; tools?: unknown } = {}) {
  const { spec, tools = [aTool('write')], ...proxyOptions } = options;
  const files = new FakeUpstream(tools);
  const events: ProxyEvent[] = [];
  const proxy = new McpProxyTool(providerOf({ files }), [{ serverName: 'files', resourceIds: ['r'], ...spec }], {
    onEvent: (event) => events.push(event),
    ...proxyOptions,
  });
  const outcomes = () => events.filter((event) => event.type === 'call').map(({ outcome }) => outcome);
  return { files, proxy, tool: proxy.asTool(), events, outcomes };
}

describe('a call', () => {
  test('passes the arguments, progress and context through unchanged', async () => {
    const { tool, files } = aProxy();
    const args = { input: 'x', deep: { a: [1, null] } };
    const context = { session: 1 };
    const seen: unknown[] = [];
    files.onCall = ({ options }) => {
      options?.onProgress?.({ progress: 1, total: 2, message: 'half' });
      return { content: [] };
    };
    await tool.execute({ tool: 'write', args }, undefined, { onProgress: (progress) => seen.push(progress), context });
    expect(files.calls[0]?.args).toEqual(args);
    expect(files.calls[0]?.options?.context).toBe(context);
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  test('accepts args as JSON text, and answers for text that is none', async () => {
    const { tool, files } = aProxy();
    expect(await tool.execute({ tool: 'write', args: '{"input":"x"}' })).toBe('done');
    expect(files.calls[0]?.args).toEqual({ input: 'x' });
    expect(await tool.execute({ tool: 'write', args: '{' })).toMatch(
      /^Not understood: "args" is text that is no valid JSON/,
    );
    expect(files.calls).toHaveLength(1);
  });

  test('that fails upstream is answered in text, cleaned, and the server stays', async () => {
    const { tool, files, outcomes } = aProxy();
    files.onCall = () => Promise.reject(new Error('quota\u001b[31m exceeded'));
    expect(await tool.execute({ tool: 'write' })).toBe('Error: "files/write" failed: quota exceeded');
    files.onCall = () => ({ isError: true, content: [{ type: 'text', text: 'no' }] });
    expect(await tool.execute({ tool: 'write' })).toBe('Error: no');
    expect(outcomes()).toEqual(['failed', 'tool_error']);
    expect(files.connects).toBe(1);
  });

  test('is cancelled upstream without the reason, and settles though the upstream does not', async () => {
    const { tool, files, outcomes } = aProxy();
    files.onCall = () => aGate().opened;
    const giveUp = new AbortController();
    const call = tool.execute({ tool: 'write' }, giveUp.signal);
    await until(() => files.calls.length === 1);
    const reason = new Error('the secret reason');
    giveUp.abort(reason);
    await expect(call).rejects.toBe(reason);
    const seen = files.calls[0]!.signal!;
    expect(seen.aborted).toBe(true);
    expect(seen.reason).not.toBe(reason);
    expect(String(seen.reason)).not.toContain('secret');
    expect(outcomes()).toEqual(['aborted']);
  });

  test('events say what happened and hold neither arguments nor results', async () => {
    const { tool, files, events } = aProxy();
    files.onCall = () => ({ content: [{ type: 'text', text: 'the-result' }] });
    await tool.execute({ tool: 'write', args: { input: 'the-secret' } });
    expect(JSON.stringify(events)).not.toMatch(/the-secret|the-result/);
    expect(events.at(-1)).toMatchObject({ type: 'call', serverName: 'files', toolName: 'write', outcome: 'ok' });
  });
});

describe('a connection that breaks under a call', () => {
  const breakOnce = (files: FakeUpstream, code: 'NOT_SENT' | 'CONNECTION_LOST') => {
    let broken = false;
    files.onCall = () => {
      if (broken) return { content: [{ type: 'text', text: 'second try' }] };
      broken = true;
      throw new McpConnectionError(code, 'pipe closed');
    };
  };

  test('is replaced, and a call that was not sent is sent once more', async () => {
    const { tool, files, events } = aProxy();
    breakOnce(files, 'NOT_SENT');
    expect(await tool.execute({ tool: 'write' })).toBe('second try');
    expect([files.connects, files.calls.length, files.closes]).toEqual([2, 2, 1]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'call_retried', reason: 'pipe closed' }));
  });

  test('a call that was sent is not repeated', async () => {
    const { tool, files } = aProxy();
    breakOnce(files, 'CONNECTION_LOST');
    expect(await tool.execute({ tool: 'write' })).toBe('Error: "files/write" failed: pipe closed');
    expect(files.calls).toHaveLength(1);
    expect(await tool.execute({ tool: 'write' })).toBe('second try');
    expect(files.connects).toBe(2);
  });

  test.each([
    ['is declared idempotent', { idempotentTools: ['write'] }, {}, 2],
    ['says that it only reads', {}, { readOnlyHint: true }, 2],
    ['says that it is idempotent', {}, { idempotentHint: true }, 2],
    ['says so, but is not believed', { trustHints: 'never' as const }, { readOnlyHint: true }, 1],
    ['says so with a text', {}, { readOnlyHint: 'true' }, 1],
  ])('unless the tool %s', async (_name, spec, annotations, calls) => {
    const { tool, files } = aProxy({ spec, tools: [{ ...aTool('write'), annotations }] });
    breakOnce(files, 'CONNECTION_LOST');
    await tool.execute({ tool: 'write' });
    expect(files.calls).toHaveLength(calls);
  });

  test('there is one second try, not more', async () => {
    const { tool, files } = aProxy();
    files.onCall = () => {
      throw Object.assign(new Error('never sent'), { code: 'NOT_SENT' });
    };
    expect(await tool.execute({ tool: 'write' })).toContain('failed: never sent');
    expect(files.calls).toHaveLength(2);
  });

  test('a tool that is another one after the restart is not called', async () => {
    const { tool, files } = aProxy();
    files.onCall = () => {
      files.tools = [aTool('write', 'Now deletes everything.')];
      throw new McpConnectionError('NOT_SENT', 'pipe closed');
    };
    expect(await tool.execute({ tool: 'write' })).toMatch(
      /refused: its definition changed when its server was restarted/,
    );
    expect(files.calls).toHaveLength(1);
  });
});

describe('approval of every call', () => {
  const recording = (decide: ApproveCall) => {
    const requests: ApprovalRequest[] = [];
    const approve: ApproveCall = (request, options) => {
      requests.push(request);
      return decide(request, options);
    };
    return { requests, approve };
  };

  test('is asked with the server, the tool, the arguments and the context, on every path', async () => {
    const { requests, approve } = recording(() => ({ kind: 'allow' }));
    const annotated = { ...aTool('write'), annotations: { destructiveHint: true } };
    const { tool, proxy } = aProxy({ approve, tools: [annotated] });
    await tool.execute({ tool: 'write', args: { input: '1' } });
    await tool.run({ tool: 'write', args: { input: '2' } });
    await proxy.run({ tool: 'files/write', args: { input: '3' } });
    await proxy.perform({ kind: 'call', tool: 'write', args: { input: '4' } });
    await (await proxy.resolve('r', 'write'))!.call({ input: '5' });
    expect(requests.map(({ args }) => args)).toEqual(['1', '2', '3', '4', '5'].map((input) => ({ input })));
    expect(requests[0]).toMatchObject({
      serverName: 'files',
      toolName: 'write',
      annotations: { destructiveHint: true },
      tool: annotated,
    });
  });

  test('a refusal is answered with its reason, and nothing is called', async () => {
    const { approve } = recording(() => ({ kind: 'deny', reason: 'not on Sundays' }));
    const { tool, proxy, files, outcomes } = aProxy({ approve });
    expect(await tool.execute({ tool: 'write' })).toBe('The call of "files/write" was refused: not on Sundays');
    expect(await tool.run({ tool: 'write' })).toMatchObject({ isError: true });
    await expect((await proxy.resolve('r', 'write'))!.call({})).rejects.toMatchObject({ code: 'CALL_REFUSED' });
    expect(files.calls).toEqual([]);
    expect(outcomes()).toEqual(['refused', 'refused', 'refused']);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no dialog'))],
    ['gives nothing', () => undefined],
    ['gives something else', () => true],
    ['gives an unknown decision', () => ({ kind: 'maybe' })],
  ])('a hook that %s is a no', async (_name, decide) => {
    // A hook in plain JavaScript can return anything.
    const { tool, files } = aProxy({ approve: decide as unknown as ApproveCall });
    expect(await tool.execute({ tool: 'write' })).toContain('was refused');
    expect(files.calls).toEqual([]);
  });

  test('the hook may answer itself, for example by asking for input', async () => {
    const asked = { resultType: 'input_required', inputRequests: {} };
    const { approve } = recording((_request, { context }) =>
      context === 'modern' ? { kind: 'answer', result: asked } : { kind: 'allow' },
    );
    const { tool, files, outcomes } = aProxy({ approve });
    expect(await tool.run({ tool: 'write' }, { context: 'modern' })).toBe(asked);
    expect(files.calls).toEqual([]);
    expect(outcomes()).toEqual(['answered']);
  });

  test('what is called is what was approved, whatever happens to the object meanwhile', async () => {
    const args = { input: 'harmless', list: ['a'] };
    const { approve } = recording(({ args: seen }) => {
      args.input = 'harmful';
      args.list.push('b');
      (seen as { input: string }).input = 'changed by the hook';
      return { kind: 'allow' };
    });
    const { tool, files } = aProxy({ approve });
    await tool.execute({ tool: 'write', args });
    expect(files.calls[0]?.args).toEqual({ input: 'harmless', list: ['a'] });
  });

  test('a tool that changes while the person thinks is not called', async () => {
    const thinking = aGate();
    const { approve, requests } = recording(async () => {
      await thinking.opened;
      return { kind: 'allow' };
    });
    const { tool, files } = aProxy({ approve });
    const call = tool.execute({ tool: 'write' });
    await until(() => requests.length === 1);
    files.announceTools([aTool('write', 'Does something else.')]);
    thinking.open();
    expect(await call).toMatch(/definition changed while the call waited for approval/);
    expect(files.calls).toEqual([]);
  });

  test('a tool that is forbidden while the person thinks is not called', async () => {
    const thinking = aGate();
    const { approve, requests } = recording(async () => {
      await thinking.opened;
      return { kind: 'allow' };
    });
    const { tool, files, proxy } = aProxy({ approve });
    const call = tool.execute({ tool: 'write' });
    await until(() => requests.length === 1);
    await proxy.setSpecs([{ serverName: 'files', resourceIds: [], allowedTools: [] }]);
    thinking.open();
    expect(await call).toContain('has no tool called "write"');
    expect(files.calls).toEqual([]);
  });

  test('is not asked again for the second try, and an abort while it waits rejects', async () => {
    const { approve, requests } = recording(() => ({ kind: 'allow' }));
    const { tool, files } = aProxy({ approve });
    let broken = false;
    files.onCall = () => {
      if (broken) return { content: [] };
      broken = true;
      throw new McpConnectionError('NOT_SENT', 'gone');
    };
    await tool.execute({ tool: 'write' });
    expect([requests.length, files.calls.length]).toEqual([1, 2]);

    const endless = aProxy({ approve: () => aGate<{ kind: 'allow' }>().opened });
    const giveUp = new AbortController();
    await endless.tool.execute({ connect: 'files' });
    const waiting = endless.tool.execute({ tool: 'write' }, giveUp.signal);
    giveUp.abort('left');
    await expect(waiting).rejects.toBe('left');
  });

  test('arguments that cannot be copied are answered, not thrown', async () => {
    const { approve } = recording(() => ({ kind: 'allow' }));
    const { proxy, files } = aProxy({ approve });
    const answer = await proxy.perform({ kind: 'call', tool: 'write', args: { run: () => 1 } });
    expect(answer).toMatchObject({ kind: 'refused', reason: expect.stringContaining('cannot be copied') });
    expect(files.calls).toEqual([]);
  });
});
