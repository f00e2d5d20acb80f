import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerFromHttp } from '../src/http-answer.js';
import {
  createEraResolver,
  createMcpEraCache,
  EraUndeterminedError,
  type McpEra,
  type McpEraProbeAnswer,
} from '../src/index.js';
import { ServerExitedError } from '../src/stdio.js';
import { DISCOVER, result } from './answers.js';
import { aClock } from './clock.js';

const HEALTHY = answerFromHttp({
  status: 200,
  body: result({ ...DISCOVER, supportedVersions: ['2025-11-25', '2026-07-28'] }),
});
const http = (status: number, body = ''): McpEraProbeAnswer => answerFromHttp({ status, body });
const thrown = (error: unknown): McpEraProbeAnswer => ({ kind: 'error', error });

/** What may come over a server that is well: outages, gateways, sign-in, the network. */
const HTTP_OUTAGES: McpEraProbeAnswer[] = [
  ...[401, 403, 408, 425, 429, 500, 502, 503, 504].map((status) => http(status, '<html>')),
  ...[301, 302, 307].map((status) => http(status)),
  http(200, '<html>Maintenance</html>'),
  http(200),
  http(202),
  { kind: 'timeout' },
  thrown(new TypeError('fetch failed')),
  thrown(undefined),
];
/** A gateway's own page, which by the letter of the specification reads as legacy. */
const HTTP_GATEWAY: McpEraProbeAnswer[] = [http(404, '<html>no such route</html>'), http(400, ''), http(405, '')];
const STDIO: McpEraProbeAnswer[] = [
  { kind: 'timeout' },
  thrown(new ServerExitedError('it exited', 1)),
  thrown(new ServerExitedError('it was killed', null, 'SIGKILL')),
  thrown(Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })),
];

type Step =
  | { readonly do: 'fault'; readonly answer: McpEraProbeAnswer }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'mismatch'; readonly era: McpEra['kind'] };

const steps = (faults: McpEraProbeAnswer[]): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...faults).map((answer): Step => ({ do: 'fault', answer })) },
      { weight: 2, arbitrary: fc.nat({ max: 7_200_000 }).map((ms): Step => ({ do: 'wait', ms })) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<McpEra['kind']>('modern', 'legacy').map((era): Step => ({ do: 'mismatch', era })),
      },
    ),
    { maxLength: 25 },
  );

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs the steps, then lets the server be well, and gives what was said meanwhile and in the end. */
async function live(
  key: string,
  todo: Step[],
  patienceMs: number,
  before?: McpEra,
): Promise<{ said: McpEra['kind'][]; last: McpEra['kind'] }> {
  const clock = aClock();
  const cache = createMcpEraCache();
  if (before) await cache.set(key, { ...before, checkedAt: clock.now(), expiresAt: clock.now() + 3_600_000 });
  const resolver = createEraResolver({ cache, now: clock.now });
  const said: McpEra['kind'][] = [];
  for (const step of todo) {
    if (step.do === 'wait') clock.advance(step.ms);
    else if (step.do === 'mismatch') await resolver.reportMismatch(key, step.era);
    else {
      const answered = await resolver.resolve({ key, probe: async () => step.answer }).catch((error: unknown) => {
        if (!(error instanceof EraUndeterminedError)) throw error;
      });
      if (answered) said.push(answered.era.kind);
      await settle();
    }
  }
  clock.advance(patienceMs);
  const probe = async (): Promise<McpEraProbeAnswer> => HEALTHY;
  await resolver.resolve({ key, probe });
  await settle();
  return { said, last: (await resolver.resolve({ key, probe })).era.kind };
}

describe('no sequence of transient faults leaves a dual-era server pinned to legacy', () => {
  test('over HTTP an outage never even looks like a legacy server', () =>
    fc.assert(
      fc.asyncProperty(steps(HTTP_OUTAGES), async (todo) => {
        const { said, last } = await live('http:https://a.example', todo, 60_000);
        expect(said).not.toContain('legacy');
        expect(last).toBe('modern');
      }),
    ));

  test("a gateway's own pages are outlived by five minutes", () =>
    fc.assert(
      fc.asyncProperty(steps([...HTTP_OUTAGES, ...HTTP_GATEWAY]), async (todo) => {
        expect((await live('http:https://a.example', todo, 300_000)).last).toBe('modern');
      }),
    ));

  test('silence and crashes over stdio are outlived by five minutes', () =>
    fc.assert(
      fc.asyncProperty(steps(STDIO), async (todo) => {
        expect((await live('stdio:["weather",[],""]', todo, 300_000)).last).toBe('modern');
      }),
    ));

  test('a server that was upgraded is found out within the hour, whatever faults come between', () =>
    fc.assert(
      fc.asyncProperty(steps([...HTTP_OUTAGES, ...HTTP_GATEWAY]), async (todo) => {
        const legacy = { kind: 'legacy', version: '2025-11-25' } as const;
        expect((await live('http:https://a.example', todo, 3_600_000, legacy)).last).toBe('modern');
      }),
    ));
});
