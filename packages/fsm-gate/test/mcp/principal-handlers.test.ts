import { describe, expect, test } from 'vitest';
import { createPrincipalHandlers, type ListenBus, type PrincipalListeners, type RequestAuth } from '../../src/mcp.js';

interface Made {
  readonly bus: ListenBus;
  readonly listeners: PrincipalListeners;
  requests: number;
  closed: boolean;
}

function open(options: { maxPrincipals?: number; principal?: (auth: RequestAuth) => string | undefined } = {}) {
  const made: Made[] = [];
  const errors: unknown[] = [];
  const handlers = createPrincipalHandlers<{ authInfo?: RequestAuth }>({
    ...options,
    onError: (error) => errors.push(error),
    create: (bus, listeners) => {
      const entry: Made = { bus, listeners, requests: 0, closed: false };
      made.push(entry);
      return {
        fetch: async () => {
          entry.requests += 1;
          return new Response(String(made.indexOf(entry)));
        },
        close: async () => {
          entry.closed = true;
        },
      };
    },
  });
  const request = async (sub?: string) => {
    const options = sub === undefined ? {} : { authInfo: { extra: { sub } } };
    return (await handlers.fetch(new Request('http://shop.test'), options)).text();
  };
  return { handlers, made, errors, request };
}

describe('handlers by principal', () => {
  test('are made once for each principal, and once for all who have none', async () => {
    const { request, made } = open();
    expect([await request('ada'), await request('bob'), await request('ada')]).toEqual(['0', '1', '0']);
    expect([await request(), await request(), await request('')]).toEqual(['2', '2', '2']);
    expect(made).toHaveLength(3);
  });

  test('tell a change to the listeners of its principal and to nobody else', async () => {
    const { handlers, request, made } = open();
    await request('ada');
    await request('bob');
    await request();
    const heard: string[] = [];
    for (const [at, { bus }] of made.entries()) bus.subscribe((event) => heard.push(`${at} ${event.kind}`));
    handlers.toolsChanged('ada');
    handlers.promptsChanged('bob');
    handlers.resourcesChanged('bob');
    handlers.toolsChanged('mallory');
    expect(heard).toEqual(['0 tools_list_changed', '1 prompts_list_changed', '1 resources_list_changed']);
    expect(made[0]!.listeners.toolsChanged).toBe(made[1]!.listeners.toolsChanged);
  });

  test('go on telling when one listener throws, and stop when it unsubscribed', async () => {
    const { handlers, request, made, errors } = open();
    await request('ada');
    let heard = 0;
    made[0]!.bus.subscribe(() => {
      throw new Error('broken stream');
    });
    const unsubscribe = made[0]!.bus.subscribe(() => {
      heard += 1;
    });
    handlers.toolsChanged('ada');
    unsubscribe();
    unsubscribe();
    handlers.toolsChanged('ada');
    expect(heard).toBe(1);
    expect(errors).toHaveLength(2);
  });

  test('are bounded: the least recently used goes, never one that is listened to', async () => {
    const { request, made } = open({ maxPrincipals: 2 });
    await request('ada');
    await request('bob');
    const unsubscribe = made[0]!.bus.subscribe(() => {});
    await request('cyd');
    expect(await request('ada')).toBe('0');
    expect(await request('bob')).toBe('3');
    unsubscribe();
    await request('dan');
    await request('eve');
    expect(await request('ada')).toBe('6');
  });

  test('are all closed together', async () => {
    const { handlers, request, made } = open();
    await request('ada');
    await request('bob');
    await handlers.close();
    expect(made.every(({ closed }) => closed)).toBe(true);
    expect(await request('ada')).toBe('2');
  });

  test('know principals as the application does, for example by issuer and subject', async () => {
    const { request } = open({ principal: ({ extra }) => String(extra?.sub).toLowerCase() });
    expect([await request('ADA'), await request('ada')]).toEqual(['0', '0']);
  });
});
