import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/node/index.js';
import { redactData, redactError } from '../../src/node/redact.js';
import { listen } from '../fixtures/http-upstreams.js';
import { scripted, textOf } from '../fixtures/scripted.js';
import { providerOf, proxyOf } from '../fixtures/scripted-proxy.js';

/** How a configuration writes a variable. */
const variable = (name: string): string => `\${${name}}`;
const SECRET = 'sk-0123456789abcdef';
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that repeats the credentials that it was sent in whatever it answers. */
async function parrot(): Promise<string> {
  const { origin, close } = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body || '{}');
    const said = `bad credentials: ${request.headers.authorization}`;
    const reply = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    };
    if (request.url === '/broken') return reply(500, { message: said });
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'initialize') {
      const serverInfo = { name: 'parrot', version: '1' };
      return reply(200, {
        jsonrpc: '2.0',
        id,
        result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo },
      });
    }
    if (method === 'tools/list') {
      return reply(200, { jsonrpc: '2.0', id, result: { tools: [{ name: 'fly', inputSchema: { type: 'object' } }] } });
    }
    return reply(200, { jsonrpc: '2.0', id, error: { code: -32000, message: said } });
  });
  closers.push(close);
  return origin;
}

describe('a secret of the configuration', () => {
  it('that a remote server repeats when it refuses us reaches no status, no answer and no log', async () => {
    const lines: string[] = [];
    const url = `${await parrot()}/broken`;
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
    const url = await parrot();
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
});
