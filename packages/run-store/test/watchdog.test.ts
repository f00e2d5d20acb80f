import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createWatchdog, NoAnswerError } from '../src/redis/watchdog.js';

/** A timer that goes off when the test says so. */
function aTimer() {
  const due: (() => void)[] = [];
  return {
    setTimer: (run: () => void) => due.push(run),
    async tick() {
      due.shift()?.();
      await turn();
    },
    get pending() {
      return due.length;
    },
  };
}

const never = (): Promise<never> => new Promise(() => {});

describe('a watchdog', () => {
  it('gives up on what is not answered within the timeout, and not a tick before', async () => {
    const timer = aTimer();
    const { watch } = createWatchdog({ timeoutMs: 1_000, setTimer: timer.setTimer });
    let outcome: unknown = 'waiting';
    void watch(never()).catch((error: unknown) => {
      outcome = error;
    });
    for (let i = 0; i < 4; i++) await timer.tick();
    expect(outcome).toBe('waiting');
    await timer.tick();
    expect(outcome).toBeInstanceOf(NoAnswerError);
  });

  it('hands answers and errors on', async () => {
    const { watch, watchThen } = createWatchdog({ timeoutMs: 1_000, setTimer: aTimer().setTimer });
    expect(await watch(Promise.resolve(7))).toBe(7);
    await expect(watch(Promise.reject(new Error('closed')))).rejects.toThrow('closed');
    expect(
      await watchThen(
        Promise.resolve(7),
        (n) => n + 1,
        () => 0,
      ),
    ).toBe(8);
    expect(
      await watchThen(
        Promise.reject(new Error('closed')),
        () => 1,
        () => 0,
      ),
    ).toBe(0);
  });

  it('forgets an answer that comes too late', async () => {
    const timer = aTimer();
    const { watchThen } = createWatchdog({ timeoutMs: 1_000, setTimer: timer.setTimer });
    const { promise, reject } = deferred();
    const calls: string[] = [];
    const watched = watchThen(
      promise,
      () => 'value',
      (error) => {
        calls.push(String(error));
        return 'gave up';
      },
    );
    for (let i = 0; i < 5; i++) await timer.tick();
    reject(new Error('too late'));
    await turn();
    expect(await watched).toBe('gave up');
    expect(calls).toHaveLength(1);
  });

  it('stops ticking when nothing is waited for', async () => {
    const timer = aTimer();
    const { watch } = createWatchdog({ timeoutMs: 1_000, setTimer: timer.setTimer });
    await watch(Promise.resolve());
    await timer.tick();
    expect(timer.pending).toBe(0);
    const late = watch(Promise.resolve('again'));
    expect(timer.pending).toBe(1);
    expect(await late).toBe('again');
  });

  it('waits for ever when it is told to', async () => {
    const timer = aTimer();
    const { watch } = createWatchdog({ timeoutMs: Number.POSITIVE_INFINITY, setTimer: timer.setTimer });
    void watch(never());
    expect(timer.pending).toBe(0);
  });
});

function deferred(): { promise: Promise<void>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}
