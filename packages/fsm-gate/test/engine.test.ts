import { afterEach, describe, expect, it, vi } from 'vitest';

describe('without xstate', () => {
  afterEach(() => {
    vi.doUnmock('xstate');
    vi.resetModules();
  });

  it('a gate gates all the same, and notices when xstate is installed later', async () => {
    vi.resetModules();
    vi.doMock('xstate', () => {
      throw new Error("Cannot find package 'xstate'");
    });
    const { initFsmEngine, resetXStateCache, StateMachineGate } = await import('../src/index.js');
    const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final' } } });
    gate.bindTool('only_b', ['b']);

    expect(await initFsmEngine()).toBe(false);
    expect(await gate.init()).toBe(false);
    expect(gate.isToolAllowed('only_b')).toBe(false);
    expect((await gate.transition('GO')).changed).toBe(true);
    expect(gate.isToolAllowed('only_b')).toBe(true);

    vi.doUnmock('xstate');
    resetXStateCache();
    expect(await initFsmEngine()).toBe(true);
    expect(await gate.init()).toBe(true);
  });

  it('a failed import is not remembered', async () => {
    vi.resetModules();
    vi.doMock('xstate', () => {
      throw new Error('half installed');
    });
    const { initFsmEngine } = await import('../src/index.js');
    expect(await initFsmEngine()).toBe(false);
    vi.doUnmock('xstate');
    expect(await initFsmEngine()).toBe(true);
  });
});
