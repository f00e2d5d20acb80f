import { describe, expect, test } from 'vitest';
import { error, isToolResponse, parseToolError, required, toolError } from '../src/index.js';
import { expectAcceptedByBothSdks, textOf } from './support/sdk.js';

describe('error', () => {
  test('is a message in an envelope', () => {
    expect(error('Project not found')).toEqual({
      content: [{ type: 'text', text: '<tool_error>\n<message>Project not found</message>\n</tool_error>' }],
      isError: true,
    });
  });

  test('carries a code if there is one', () => {
    expect(textOf(error('gone', 'NOT_FOUND'))).toBe(
      '<tool_error code="NOT_FOUND">\n<message>gone</message>\n</tool_error>',
    );
  });
});

test('required names the field, its code and the way out', () => {
  const result = required('workspace_id');
  expect(result.isError).toBe(true);
  expect(textOf(result)).toBe(
    [
      '<tool_error code="MISSING_REQUIRED_FIELD">',
      '<message>Error: workspace_id required</message>',
      '<recovery>Provide the "workspace_id" field and call the tool again.</recovery>',
      '</tool_error>',
    ].join('\n'),
  );
});

describe('toolError', () => {
  test('says everything, in an order that never changes', () => {
    const result = toolError('CONFLICT', {
      retryAfter: 30,
      details: { 'a"b': '1 < 2 & 3 > 2', entity_id: 'inv_1' },
      availableActions: ['invoices.get', 'invoices.list'],
      suggestion: 'Read it again.',
      message: 'The invoice changed; version >= 3 needed.',
      severity: 'critical',
    });
    expect(textOf(result)).toBe(
      [
        '<tool_error code="CONFLICT" severity="critical">',
        '<message>The invoice changed; version >= 3 needed.</message>',
        '<recovery>Read it again.</recovery>',
        '<available_actions>',
        '  <action>invoices.get</action>',
        '  <action>invoices.list</action>',
        '</available_actions>',
        '<details>',
        '  <detail key="a&quot;b">1 &lt; 2 &amp; 3 > 2</detail>',
        '  <detail key="entity_id">inv_1</detail>',
        '</details>',
        '<retry_after>30 seconds</retry_after>',
        '</tool_error>',
      ].join('\n'),
    );
    expect(result.isError).toBe(true);
    expect(isToolResponse(result)).toBe(true);
    expectAcceptedByBothSdks(result);
  });

  test('says no more than it knows', () => {
    expect(textOf(toolError('RateLimited', { message: 'Wait.' }))).toBe(
      '<tool_error code="RateLimited" severity="error">\n<message>Wait.</message>\n</tool_error>',
    );
    const empty = toolError('X', { message: 'm', availableActions: [], details: {}, suggestion: '' });
    expect(textOf(empty)).toBe('<tool_error code="X" severity="error">\n<message>m</message>\n</tool_error>');
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('leaves out a wait of %s seconds', (retryAfter) => {
    const result = toolError('X', { message: 'm', retryAfter });
    expect(textOf(result)).not.toContain('retry_after');
    expect(parseToolError(result)).not.toHaveProperty('retryAfter');
  });

  test('a warning is no error: the work was done', () => {
    const result = toolError('DEPRECATED', { message: 'Use v2.', severity: 'warning' });
    expect(result.isError).toBe(false);
    expect(textOf(result)).toContain('severity="warning"');
  });

  test('never puts structuredContent on an error', () => {
    for (const result of [error('x'), required('x'), toolError('X', { message: 'x' })]) {
      expect(result).not.toHaveProperty('structuredContent');
    }
  });

  test('takes whatever untyped callers pass', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const strange = {
      message: undefined,
      suggestion: 5,
      availableActions: ['a', 2, proxy],
      severity: 'fatal',
      details: { n: 1, list: [1, 2], no: undefined, big: 1n, bad: proxy },
      retryAfter: '5',
    } as never;
    const result = toolError('X', strange);
    expectAcceptedByBothSdks(result);
    expect(parseToolError(result)).toEqual({
      code: 'X',
      message: 'X',
      severity: 'error',
      suggestion: '5',
      availableActions: ['a', '2', '[unreadable]'],
      details: { n: '1', list: '[1,2]', no: 'undefined', big: '1', bad: '[unreadable]' },
    });
    expectAcceptedByBothSdks(toolError(undefined as never, undefined as never));
    expectAcceptedByBothSdks(toolError('X', { message: 'm', details: proxy as never }));
    expectAcceptedByBothSdks(error(undefined as never));
    expectAcceptedByBothSdks(required(null as never));
  });
});

describe('an error is bounded', () => {
  test('it stays under what hosts cut, and keeps its way out', () => {
    const result = toolError('TOO_MUCH', {
      message: '<&'.repeat(50_000),
      suggestion: 'Ask for less.',
      availableActions: Array.from({ length: 5000 }, (_, i) => `action.${i}`),
      details: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, 'v'.repeat(100)])),
    });
    expect(textOf(result).length).toBeLessThanOrEqual(10_000);
    expect(textOf(result)).toMatch(/characters left out\]<\/message>/);
    expect(textOf(result)).toContain('<recovery>Ask for less.</recovery>');
    expect(textOf(result)).toMatch(/<available_actions omitted="\d+">/);
    const parsed = parseToolError(result)!;
    expect(Number(parsed.details.details_left_out)).toBeGreaterThan(0);
    expect(parsed.suggestion).toBe('Ask for less.');
  });

  test('its limit can be moved', () => {
    const message = 'x'.repeat(20_000);
    expect(parseToolError(toolError('X', { message, maxChars: 50_000 }))?.message).toBe(message);
    expect(textOf(toolError('X', { message, maxChars: 200 })).length).toBeLessThanOrEqual(200);
    expect(parseToolError(toolError('X', { message, maxChars: 1 }))).toMatchObject({ message: '…' });
  });

  test('hundred megabytes of quotes are no trouble', () => {
    const huge = '"'.repeat(100_000_000);
    for (const result of [
      error(huge, huge),
      required(huge),
      toolError(huge, { message: huge, details: { [huge]: huge } }),
    ]) {
      expect(textOf(result as never).length).toBeLessThanOrEqual(10_000);
    }
  });
});

describe('parseToolError', () => {
  const full = {
    message: 'a < b & "c" ]]> \u0000 end',
    suggestion: "Don't <stop>.",
    availableActions: ['one & two', '<three>'],
    severity: 'critical' as const,
    details: { 'k"<>\n': 'v\n<&>', __proto__x: 'y' },
    retryAfter: 1.5,
  };

  test('gives back what went in, from the twin', () => {
    expect(parseToolError(toolError('C', full))).toEqual({ code: 'C', ...full });
  });

  test('gives back the same from the text alone, but for characters that XML forbids', () => {
    const { _meta, ...textOnly } = toolError('C', full);
    expect(parseToolError(textOnly)).toEqual({ code: 'C', ...full, message: full.message.replace('\u0000', '\uFFFD') });
  });

  test('reads the short forms', () => {
    expect(parseToolError(error('m'))).toEqual({ message: 'm', severity: 'error', availableActions: [], details: {} });
    expect(parseToolError(required('f'))).toMatchObject({
      code: 'MISSING_REQUIRED_FIELD',
      message: 'Error: f required',
    });
  });

  test('what it gives can be sent again', () => {
    const parsed = parseToolError(toolError('C', full))!;
    expect(toolError(parsed.code!, parsed)).toEqual(toolError('C', full));
  });

  test('knows what is no error of ours', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const others = [
      null,
      'x',
      {},
      proxy,
      { content: 'x' },
      { content: [null, { type: 'text' }, { type: 'text', text: 'plain' }] },
      { content: [{ type: 'text', text: '<tool_error>' }] },
      { _meta: { 'interlock/error': { message: 5 } } },
    ];
    for (const other of others) expect(parseToolError(other)).toBeUndefined();
  });
});
