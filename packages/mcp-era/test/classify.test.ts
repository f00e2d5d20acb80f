import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { answerFromHttp } from '../src/http-answer.js';
import {
  classifyEraAnswer,
  classifyModernHttpFailure,
  ERA_RULES,
  isRecognizedModernError,
  MCPHttpStatusError,
  MCPProtocolError,
  serverInfoFromDiscover,
} from '../src/index.js';
import { newestCommonVersion, versionDate } from '../src/versions.js';
import { ANSWERS, DISCOVER, ID, refusal, result } from './answers.js';

describe('every answer has its verdict, its rule and its section', () => {
  test('the table has at least sixty answers, and every rule that an answer can decide', () => {
    expect(ANSWERS.length).toBeGreaterThanOrEqual(60);
    const unasked = ['HTTP+SSE', 'pinned', 'cached'];
    const decided = new Set([...ANSWERS.map(({ rule }) => rule as string), ...unasked]);
    expect([...decided].sort()).toEqual(Object.keys(ERA_RULES).sort());
  });

  it.each(ANSWERS)('$name → $verdict: $rule', ({ transport, answer, verdict, rule, spec }) => {
    const said = classifyEraAnswer(answer, { transport });
    expect(said).toMatchObject({
      kind: verdict,
      evidence: { rule, sent: `server/discover at 2026-07-28 over ${transport}` },
    });
    expect(said.evidence.section).toBe(ERA_RULES[rule][1]);
    expect(said.evidence.received).not.toBe('');
    // Where the specification says something, we say the same; where it says nothing, our own decision is named.
    const allowed = {
      modern: ['modern', 'retry'],
      legacy: ['legacy'],
      refuse: ['undetermined'],
      silent: ['undetermined', 'legacy', 'modern'],
    };
    expect(allowed[spec]).toContain(said.kind);
  });

  it.each(ANSWERS)('$name: no verdict but the right one for its ruling', ({ transport, answer, rule }) => {
    const said = classifyEraAnswer(answer, { transport });
    const [ruling] = ERA_RULES[rule];
    expect(said.kind === 'undetermined' ? said.reason.kind : said.kind).toBe(ruling);
    if (said.kind === 'modern' || said.kind === 'retry') expect(said.version).toBe('2026-07-28');
    if (said.kind === 'legacy') expect(said.version).toMatch(/^202[45]-/);
  });
});

describe('an undetermined verdict keeps what the caller needs to go on', () => {
  const reasonOf = (status: number, headers: Record<string, string>, body = '', now = 0): unknown => {
    const verdict = classifyEraAnswer(answerFromHttp({ status, headers, body }), { transport: 'http', now });
    return verdict.kind === 'undetermined' ? verdict.reason : verdict;
  };

  test('the challenge of a 401, from which OAuth starts', () => {
    expect(reasonOf(401, { 'WWW-Authenticate': 'Bearer scope="a"' })).toEqual({
      kind: 'sign-in-needed',
      status: 401,
      challenge: 'Bearer scope="a"',
    });
  });

  test('when to come back, in seconds or as a date', () => {
    expect(reasonOf(429, { 'Retry-After': '7' })).toMatchObject({
      kind: 'unavailable',
      status: 429,
      retryAfterMs: 7000,
    });
    const now = Date.parse('2031-01-01T00:00:00Z');
    expect(reasonOf(503, { 'retry-after': 'Wed, 01 Jan 2031 00:00:10 GMT' }, '', now)).toMatchObject({
      retryAfterMs: 10_000,
    });
    expect(reasonOf(503, { 'retry-after': 'soon' })).toMatchObject({ retryAfterMs: undefined });
    expect(reasonOf(503, { 'retry-after': '' })).toMatchObject({ retryAfterMs: undefined });
  });

  test('where a redirect leads', () => {
    expect(reasonOf(302, { Location: '/login' })).toEqual({ kind: 'redirected', status: 302, location: '/login' });
  });

  test('both version lists', () => {
    expect(reasonOf(400, {}, refusal(-32022, 'no', { supported: ['2030-01-01'] }))).toEqual({
      kind: 'versions-disjoint',
      offered: ['2030-01-01'],
      spoken: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
    });
  });
});

test('a server that refuses the very version it offers is not asked a third time, nor believed about the others', () => {
  const body = refusal(-32022, 'no', { supported: ['2026-07-28', '2025-11-25'] });
  const verdict = classifyEraAnswer(answerFromHttp({ status: 400, body }), { transport: 'http', retried: true });
  expect(verdict).toMatchObject({ kind: 'undetermined', reason: { kind: 'versions-disjoint' } });
});

test('evidence holds no header and no body', () => {
  const secret = 'hunter2-hunter2';
  const headers = { 'www-authenticate': `Bearer ${secret}`, 'set-cookie': secret, 'content-type': 'text/plain' };
  for (const status of [200, 302, 400, 401, 404, 429, 500]) {
    const { evidence } = classifyEraAnswer(answerFromHttp({ status, headers, body: secret }), { transport: 'http' });
    expect(JSON.stringify(evidence)).not.toContain(secret);
  }
});

describe('isRecognizedModernError', () => {
  test('knows the three modern codes, whatever the class', () => {
    for (const code of [-32020, -32021, -32022]) {
      expect(isRecognizedModernError(new MCPProtocolError(code, 'x'))).toBe(true);
      expect(isRecognizedModernError(Object.assign(new Error('x'), { code }))).toBe(true);
      expect(isRecognizedModernError({ code })).toBe(true);
    }
  });

  test('knows nothing else', () => {
    for (const error of [
      undefined,
      null,
      'x',
      -32022,
      {},
      new Error('x'),
      { code: '-32022' },
      new MCPHttpStatusError(400, ''),
    ]) {
      expect(isRecognizedModernError(error)).toBe(false);
    }
    for (const code of [-32001, -32003, -32004, -32000, -32601, -32602, -32600, -32700, -32023, -32099]) {
      expect(isRecognizedModernError(new MCPProtocolError(code, 'x'))).toBe(false);
    }
  });
});

describe('classifyModernHttpFailure', () => {
  test('takes -32601 for proof on a 404 only', () => {
    expect(classifyModernHttpFailure(404, refusal(-32601))).toMatchObject({ kind: 'modern', error: { code: -32601 } });
    expect(classifyModernHttpFailure(400, refusal(-32601))).toEqual({ kind: 'legacy' });
    expect(classifyModernHttpFailure(405, refusal(-32601))).toEqual({ kind: 'legacy' });
  });

  test('takes a modern error for proof on each of them, and keeps its data', () => {
    for (const status of [400, 404, 405]) {
      const said = classifyModernHttpFailure(status, refusal(-32022, 'no', { supported: ['2030-01-01'] }));
      expect(said).toMatchObject({ kind: 'modern', error: { code: -32022, data: { supported: ['2030-01-01'] } } });
      expect(said.kind === 'modern' && said.error).toBeInstanceOf(MCPProtocolError);
    }
  });

  test('takes every other body for legacy', () => {
    fc.assert(
      fc.property(fc.constantFrom(400, 404, 405), fc.oneof(fc.string(), fc.json()), (status, body) => {
        fc.pre(!/-3202[012]|-32601/.test(body));
        expect(classifyModernHttpFailure(status, body)).toEqual({ kind: 'legacy' });
      }),
    );
  });
});

describe('serverInfoFromDiscover', () => {
  test('reads name and version from the reserved key', () => {
    expect(serverInfoFromDiscover(DISCOVER as never)).toEqual({ name: 'weather', version: '2.0.0' });
    expect(serverInfoFromDiscover({ _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'w' } } })).toEqual({
      name: 'w',
    });
  });

  test('gives undefined for anything else', () => {
    expect(serverInfoFromDiscover(undefined)).toBeUndefined();
    expect(serverInfoFromDiscover({})).toBeUndefined();
    for (const info of [null, 'x', 7, [], {}, { name: 7 }, { version: '1' }]) {
      expect(serverInfoFromDiscover({ _meta: { 'io.modelcontextprotocol/serverInfo': info } })).toBeUndefined();
    }
  });
});

describe('versions are compared as days', () => {
  test('text that is no date never wins', () => {
    expect(versionDate('DRAFT-2026-v1')).toBeNaN();
    expect(
      newestCommonVersion(['DRAFT-2026-v1', 'zzz', '2025-06-18', '2025-11-25'], ['2025-11-25', '2025-06-18']),
    ).toBe('2025-11-25');
    expect(newestCommonVersion(['zzz'], ['2025-11-25'])).toBeUndefined();
  });

  test('the newest in common is found in whatever order they are offered', () => {
    const spoken = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
    fc.assert(
      fc.property(fc.subarray([...spoken], { minLength: 1 }), fc.infiniteStream(fc.integer()), (offered, order) => {
        const shuffled = [...offered].sort(() => order.next().value % 2);
        const newest = [...offered].sort((a, b) => versionDate(b) - versionDate(a))[0];
        expect(newestCommonVersion(shuffled, spoken)).toBe(newest);
      }),
    );
  });
});

test('no JSON makes the classifier throw, though it turns on whoever makes text of it', () => {
  const hostile = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom({ toString: 1, valueOf: 1 }, { toString: null }, [[{ toString: 1 }]]),
  );
  fc.assert(
    fc.property(hostile, hostile, fc.constantFrom(-32022, -32020, -32601), (a, b, code) => {
      const bodies = [
        result(a),
        result({ supportedVersions: [a, b] }),
        result({ ...DISCOVER, supportedVersions: [a, '2026-07-28', b] }),
        JSON.stringify({ jsonrpc: '2.0', id: a, error: { code, message: b, data: { supported: [a, b] } } }),
        JSON.stringify({ jsonrpc: '2.0', id: ID, error: { code, message: 'no', data: { supported: a } } }),
        JSON.stringify([a, { error: b }]),
      ];
      for (const body of bodies) {
        for (const status of [200, 400, 404, 500]) {
          const answer = answerFromHttp({ status, body }, ID);
          const { kind, evidence } = classifyEraAnswer(answer, { transport: 'http' });
          expect(['modern', 'legacy', 'retry', 'undetermined']).toContain(kind);
          expect(evidence.received).toBeTypeOf('string');
        }
      }
    }),
  );
});

test('no answer whatsoever makes the classifier throw', () => {
  const anything = fc.anything({ withNullPrototype: true, withBigInt: true });
  fc.assert(
    fc.property(
      anything,
      fc.integer({ min: 0, max: 700 }),
      fc.string(),
      fc.constantFrom('http' as const, 'stdio' as const),
      (value, status, body, transport) => {
        for (const answer of [
          { kind: 'result', result: value } as const,
          { kind: 'error', error: value } as const,
          answerFromHttp({ status, body }),
          answerFromHttp({ status, body: result(body) }),
        ]) {
          expect(['modern', 'legacy', 'retry', 'undetermined']).toContain(
            classifyEraAnswer(answer, { transport }).kind,
          );
        }
      },
    ),
  );
});
