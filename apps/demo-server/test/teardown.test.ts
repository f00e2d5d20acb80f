import { describe, expect, it } from 'vitest';
import { createTeardown } from '../src/teardown.js';

describe('stopping', () => {
  it('closes what was opened last first, once, however often it is asked', async () => {
    const closed: string[] = [];
    const teardown = createTeardown({ log: (line) => expect.unreachable(line) });
    for (const what of ['storage', 'server']) teardown.add(what, async () => void closed.push(what));
    expect(teardown.begun).toBe(false);
    await Promise.all([teardown.run(), teardown.run()]);
    expect(teardown.begun).toBe(true);
    expect(closed).toEqual(['server', 'storage']);
  });

  it('goes on when one part fails to close, and when one never does', async () => {
    const logged: string[] = [];
    const closed: string[] = [];
    const fire: (() => void)[] = [];
    const teardown = createTeardown({
      log: (line) => logged.push(line),
      timers: {
        // Only what `createTeardown` uses of the timers: the test decides when time is up.
        setTimeout: ((callback: () => void) => fire.push(callback)) as unknown as typeof setTimeout,
        clearTimeout: () => {},
      },
    });
    teardown.add('storage', async () => void closed.push('storage'));
    teardown.add('upstreams', () => new Promise(() => {}));
    teardown.add('server', () => Promise.reject(new Error('cannot be closed')));
    const stopped = teardown.run();
    while (fire.length < 2) await Promise.resolve();
    fire[1]?.();
    await stopped;
    expect(closed).toEqual(['storage']);
    expect(logged).toEqual([
      'stopping: cannot be closed',
      'stopping: upstreams did not close within 10 seconds and is left behind.',
    ]);
  });
});
