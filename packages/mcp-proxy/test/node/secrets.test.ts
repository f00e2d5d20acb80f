import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/node/index.js';
import { redactData, redactError, redactTexts } from '../../src/node/redact.js';
import { createSecrets } from '../../src/node/secrets.js';
import { parrot } from '../fixtures/parrot.js';
import { configOf, scripted, textOf } from '../fixtures/scripted.js';
import { providerOf, proxyOf } from '../fixtures/scripted-proxy.js';

/** How a configuration writes a variable. */
const variable = (name: string): string => `\${${name}}`;
const SECRET = 'sk-0123456789abcdef';
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The address of a server that repeats what it was sent. */
async function aParrot(): Promise<string> {
  const { origin, close } = await parrot();
  closers.push(close);
  return origin;
}

describe('a secret of the configuration', () => {
  it('that a remote server repeats when it refuses us reaches no status, no answer and no log', async () => {
    const lines: string[] = [];
    const url = `${await aParrot()}/broken`;
    const { proxy } = proxyOf(
      { up: { url, protocol: 'legacy', headers: { Authorization: `Bearer ${SECRET}` } } },
      { debugLog: (line) => lines.push(line) },
    );
    const answers = [textOf(await proxy.run({ connect: 'up' })), textOf(await proxy.run({}))];
    expect(answers.join()).toContain('bad credentials');
    expect(`${answers.join()}${lines.join()}${JSON.stringify(await proxy.perform({ kind: 'status' }))}`).not.toContain(
      SECRET,
    );
  });

  it('that a remote server repeats in the error of a call is not in the answer', async () => {
    const url = await aParrot();
    const { proxy } = proxyOf({ up: { url, protocol: 'legacy', headers: { Authorization: `Bearer ${SECRET}` } } });
    const answer = textOf(await proxy.run({ tool: 'fly', server: 'up' }));
    expect(answer).toContain('bad credentials');
    expect(answer).not.toContain(SECRET);
  });

  it('that a command line got from a variable is taken out of what the server says at its end', async () => {
    const { servers } = parseConfig(
      {
        mcpServers: {
          up: {
            command: process.execPath,
            args: ['-e', 'console.error("key", process.argv[1]); process.exit(1)', variable('KEY')],
          },
        },
      },
      { variables: { KEY: SECRET } },
    );
    const provider = providerOf({ up: scripted() });
    await provider.setServers(servers);
    const error = await provider.connect('up').catch((reason: Error) => reason);
    expect(String(error)).toContain('[secret]');
    expect(String(error)).not.toContain(SECRET);
  });

  it('that comes in two pieces over stderr is taken out all the same', async () => {
    const heard: string[] = [];
    const half = SECRET.length / 2;
    const script = `process.stderr.write(process.env.KEY.slice(0, ${half}), () => setTimeout(() => {
      process.stderr.write(process.env.KEY.slice(${half}) + ' is wrong'); process.exit(1); }, 100))`;
    const provider = providerOf(
      { up: { command: process.execPath, args: ['-e', script], env: { KEY: SECRET } } },
      { onStderr: (_name, text) => heard.push(text) },
    );
    const error = await provider.connect('up').catch((reason: Error) => reason);
    expect(`${String(error)}${heard.join('')}`).toContain('[secret] is wrong');
    expect(`${String(error)}${heard.join('')}`).not.toContain(SECRET.slice(0, half));
  });

  it('is taken out of what a server logs', async () => {
    const entries: unknown[] = [];
    const provider = providerOf(
      { up: scripted('good', { env: { KEY: 'the log line' } }) },
      { onLog: (_name, entry) => entries.push(entry.data) },
    );
    await (await provider.connect('up')).callTool('log', {});
    expect(entries).toEqual(['[secret]']);
  });

  it('that a variable gave is not in the error about a url that is none', () => {
    const { problems } = parseConfig(
      { mcpServers: { up: { url: `${variable('KEY')}/mcp` } } },
      { variables: { KEY: SECRET } },
    );
    expect(problems[0]?.error.message).toContain(`${variable('KEY')}/mcp`);
    expect(problems[0]?.error.message).not.toContain(SECRET);
  });
});

describe('taking secrets out', () => {
  const redact = (text: string): string => text.replaceAll(SECRET, '[secret]');

  it('covers the causes of an error and their stacks', () => {
    const cause = new Error(`inner ${SECRET}`);
    const error = redactError(new Error(`outer ${SECRET}`, { cause }), redact);
    expect([error.message, cause.message]).toEqual(['outer [secret]', 'inner [secret]']);
    expect(`${error.stack}${cause.stack}`).not.toContain(SECRET);
  });

  it('covers errors whose message can only be read', () => {
    expect(redactError(new DOMException(`late ${SECRET}`, 'TimeoutError'), redact).message).toBe('late [secret]');
  });

  it('keeps the shape of data, whatever it is', () => {
    expect(redactData({ a: [SECRET, 1], b: null }, redact)).toEqual({ a: ['[secret]', 1], b: null });
    expect(redactData(undefined, redact)).toBeUndefined();
    expect(redactData({ a: 1 }, (text) => text.replace('{"a"', '[secret]'))).toBe('[secret]:1}');
  });

  it('covers what an error carries beside its message', () => {
    const data = { text: `body ${SECRET}`, [SECRET]: [SECRET] };
    const error = redactError(Object.assign(new Error('refused'), { data, code: -32000 }), redact);
    expect(error).toMatchObject({ code: -32000, data: { text: 'body [secret]', '[secret]': ['[secret]'] } });
    const several = new AggregateError([new Error(`one ${SECRET}`)], 'several');
    expect((redactError(several, redact).errors[0] as Error).message).toBe('one [secret]');
  });

  it('reads data that is nested deeper than the stack, holds itself, or has a key named __proto__', () => {
    let deep: unknown = SECRET;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    let inside: unknown = redactData(deep, redact);
    while (Array.isArray(inside)) [inside] = inside;
    expect(inside).toBe('[secret]');
    const loop: { self?: unknown; text: string } = { text: SECRET };
    loop.self = loop;
    expect(redactTexts(loop, redact).text).toBe('[secret]');
    const hostile = redactTexts(JSON.parse(`{"__proto__":"${SECRET}"}`), redact);
    expect(JSON.stringify(hostile)).toBe('{"__proto__":"[secret]"}');
  });

  it('covers the ways in which a value is written in an address, in JSON and in base64', () => {
    const value = 'a"b\\c d/e+f=\u00fc&';
    const { redact: all } = createSecrets(configOf({ up: { command: 'x', env: { TOKEN: value } } }).get('up')!);
    const form = new URLSearchParams({ v: value }).toString().slice(2);
    const forms = [
      value,
      form,
      encodeURIComponent(value),
      JSON.stringify(value),
      Buffer.from(value).toString('base64'),
    ];
    for (const each of [...forms, Buffer.from(value).toString('base64url')])
      expect(all(each)).toMatch(/^"?\[secret\]"?=*$/);
  });

  it('covers the password in an address, in Basic credentials and in a cookie, and a query as it is written', () => {
    const url = 'https://u:pass-of-url@up.example/mcp?key=a%2fb%2fc-of-query';
    const headers = { Authorization: `Basic ${btoa('ada:pass-of-basic')}`, Cookie: 'a=1; sid=id-of-cookie' };
    const { redact: all } = createSecrets(configOf({ up: { url, headers } }).get('up')!);
    const text = `pass-of-url pass-of-basic id-of-cookie a%2fb%2fc-of-query a/b/c-of-query`;
    expect(all(text)).toBe('[secret] [secret] [secret] [secret] [secret]');
    const env = { DATABASE: 'postgres://ada:pass-of-db@db.example/x' };
    expect(createSecrets(configOf({ up: { command: 'x', env } }).get('up')!).redact('pass-of-db')).toBe('[secret]');
  });

  it('leaves no part of values that overlap, hold one another, or are like what stands for them', () => {
    const env = { TOKEN_A: 'abcdefgh', TOKEN_B: 'fghijklmnop', TOKEN_C: 'cdefgh', TOKEN_D: 'secret' };
    const { redact: all } = createSecrets(configOf({ up: { command: 'x', env } }).get('up')!);
    expect(all('<abcdefghijklmnop>')).toBe('<[secret]>');
    expect(all('abcdefghabcdefgh and cdefgh')).toBe('[secret][secret] and [secret]');
    expect(all('my secret')).toBe('my [secret]');
  });

  it('keeps the last that were learnt, however many there are', () => {
    const secrets = createSecrets(configOf({ up: { url: 'https://up.example' } }).get('up')!, 3);
    for (let count = 0; count < 10_000; count += 1) {
      secrets.learn('authorization', `Bearer first-of-all-tokens`);
      secrets.learn('authorization', `Bearer token-number-${count}`);
      secrets.learn('traceparent', `trace-number-${count}`);
    }
    expect(
      secrets.redact('first-of-all-tokens token-number-9999 token-number-9998 token-number-9997 trace-number-9999'),
    ).toBe('[secret] [secret] [secret] token-number-9997 [secret]');
  });

  it('leaves in results what may be a word: values of the entry that are no credentials, and short ones', () => {
    const env = { MODE: 'a-mode-that-is-a-long-word', API_KEY: 'key-that-nobody-may-see', TOKEN: 'shorter' };
    const secrets = createSecrets(configOf({ up: { command: 'x', env } }).get('up')!);
    const text = 'a-mode-that-is-a-long-word key-that-nobody-may-see shorter';
    expect(secrets.redactCredentials(text)).toBe('a-mode-that-is-a-long-word [secret] shorter');
    expect(secrets.redact(text)).toBe('[secret] [secret] [secret]');
  });
});
