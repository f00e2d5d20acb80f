/** What the facts of a request are told from, for requests of any shape. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateKeyOfSession } from '../../src/mcp/index.js';
import { factsOf, isConnectionAlone } from '../../src/mcp/request-facts.js';

const authInfo = fc.option(fc.record({ extra: fc.record({ sub: fc.constantFrom('ann', '', 7) }) }), { nil: undefined });

/** v1's `extra` and v2's `ctx`, with anything missing. */
const contexts = fc.oneof(
  fc.constant(undefined),
  fc.record(
    {
      sessionId: fc.option(fc.constantFrom('s-1', ''), { nil: undefined }),
      authInfo,
      requestInfo: fc.option(fc.constant({ headers: {} }), { nil: undefined }),
      http: fc.oneof(fc.constantFrom(null, undefined), fc.record({ authInfo }, { requiredKeys: [] })),
      mcpReq: fc.option(fc.record({ signal: fc.constant(new AbortController().signal) }), { nil: undefined }),
    },
    { requiredKeys: [] },
  ),
);

const connection = (era: 'legacy' | 'modern') => ({
  era: () => era,
  connectionId: 'connection:1',
  principal: ({ extra }: { extra?: Readonly<Record<string, unknown>> }) => extra?.sub as string | undefined,
});

describe('a connection that is alone', () => {
  it('is the key that the default resolver gives, in both eras: the facts need not be made for it', () => {
    const request = { method: 'tools/call', params: { name: 'cart_pay' } };
    fc.assert(
      fc.property(contexts, fc.constantFrom('legacy' as const, 'modern' as const), (context, era) => {
        const facts = factsOf(request, context, connection(era));
        if (isConnectionAlone(context)) expect(stateKeyOfSession(facts)).toBe('connection:1');
        // Whoever came over HTTP is never taken for the connection.
        if (facts.overHttp) expect(isConnectionAlone(context)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});
