/** A server under any sequence of events: what must hold is checked after each of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, ManualClock, providerOf } from '../support/fake-upstream.js';

type Step =
  | { readonly kind: 'call' | 'connect' | 'search' | 'status' | 'closeAll' | 'crash' | 'idle' | 'announce' }
  | { readonly kind: 'abortedCall' }
  | { readonly kind: 'connects'; readonly outcome: 'works' | 'fails' | 'hangs' }
  | { readonly kind: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'call',
        'connect',
        'search',
        'status',
        'closeAll',
        'crash',
        'idle',
        'announce',
        'abortedCall',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('connects' as const),
      outcome: fc.constantFrom('works', 'fails', 'hangs'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 1_000, 30_000, 60_000) }),
  },
) as fc.Arbitrary<Step>;

/** Lets everything that can go on without the clock go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('there is never more than one connection, none after closeAll, and every request settles', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock();
      const up = new FakeUpstream([aTool('work')]);
      const proxy = new McpProxyTool(providerOf({ up }), [{ serverName: 'up', resourceIds: [] }], {
        now: clock.now,
        setTimer: clock.setTimer,
      });
      const tool = proxy.asTool();
      const open = new Set<Promise<unknown>>();
      const start = (request: Promise<unknown>): void => {
        const watched = request
          .catch((error: unknown) => expect(error).toBe('aborted'))
          .finally(() => open.delete(watched));
        open.add(watched);
      };
      for (const { ...next } of steps) {
        switch (next.kind) {
          case 'call':
            start(tool.execute({ tool: 'work', server: 'up' }));
            break;
          case 'abortedCall': {
            const controller = new AbortController();
            start(tool.execute({ tool: 'work', server: 'up' }, controller.signal));
            await Promise.resolve();
            controller.abort('aborted');
            break;
          }
          case 'connect':
            start(tool.execute({ connect: 'up' }));
            break;
          case 'search':
            start(tool.execute({ search: 'work' }));
            break;
          case 'status':
            expect(await tool.execute({})).toMatch(/^up: (connected|connecting|not connected|failed)/);
            break;
          case 'closeAll':
            await proxy.closeAll();
            expect(up.living).toBe(0);
            break;
          case 'crash':
            up.hangUp(new Error('crash'));
            break;
          case 'idle':
            up.hangUp();
            break;
          case 'announce':
            up.announceTools([aTool('work'), aTool('more')]);
            break;
          case 'connects':
            up.onConnect =
              next.outcome === 'works'
                ? async () => {}
                : next.outcome === 'fails'
                  ? () => Promise.reject(new Error('down'))
                  : () => new Promise(() => {});
            break;
          case 'wait':
            clock.advance(next.ms);
            break;
          default:
            next satisfies never;
        }
        expect(up.living).toBeLessThanOrEqual(1);
        await settle();
        expect(up.living).toBeLessThanOrEqual(1);
      }
      // Whatever still hangs ends with its deadline.
      clock.advance(60_000);
      await settle();
      expect(open.size).toBe(0);
      await proxy.closeAll();
      expect(up.living).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    }),
    { numRuns: 150 },
  );
});
