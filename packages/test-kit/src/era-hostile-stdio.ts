/** Stdio peers that answer as no server should. Run as a program, the mode is the first argument. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type HostileStdioMode =
  | 'legacy' // well-behaved, of 2025-11-25
  | 'dual' // well-behaved, of both eras: what comes first decides for the process
  | 'modern' // well-behaved, of 2026-07-28; refuses `initialize` with -32022
  | 'silent' // never answers a method it does not know; serves `initialize`
  | 'dead' // never answers anything
  | 'exits-on-question' // exits on a method it does not know; serves `initialize`
  | 'exits-at-once'
  | 'single-instance' // refuses to start while another one runs; exits on a method it does not know
  | 'late' // dual, but answers the question only once it is asked something else
  | 'null-id' // answers what it does not know with a null id and -32600
  | 'wrong-ids' // answers the question under ids that nobody used; serves `initialize`
  | 'two-answers' // a DiscoverResult, then an error, for one question
  | 'beside' // resultType beside result
  | 'drips' // a byte of an answer now and then, never a whole line
  | 'long-line' // a line of a gigabyte
  | 'floods-stderr' // 4 MiB to stderr before each answer; stuck while nobody reads them
  | 'chatty' // log lines on stdout among the messages
  | 'closes-stdout' // stays, but closes its stdout
  | 'ignores-sigterm' // stays until SIGKILL
  | 'leaves-children' // starts a process that holds its pipes and outlives it
  | 'claims-modern'; // says 2026-07-28 to the question and refuses every other modern request as legacy servers do

/** The command line of such a peer. `note` is a path: a lock, or where the pid of the child is written. */
export function hostileStdio(mode: HostileStdioMode, note?: string): { command: string; args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(import.meta.url), mode, ...(note ? [note] : [])] };
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly arguments?: unknown };
}

function run(mode: HostileStdioMode, note = ''): void {
  if (mode === 'exits-at-once') {
    process.stderr.write('missing API_KEY\n');
    process.exit(3);
  }
  if (mode === 'single-instance') {
    if (existsSync(note)) {
      process.stderr.write('another instance is running\n');
      process.exit(4);
    }
    writeFileSync(note, String(process.pid));
    process.on('exit', () => rmSync(note, { force: true }));
  }
  if (mode === 'ignores-sigterm') process.on('SIGTERM', () => {});
  if (mode === 'leaves-children') {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    writeFileSync(note, String(child.pid));
  }
  if (mode === 'closes-stdout') process.stdout.end();
  if (mode === 'long-line') {
    const chunk = 'x'.repeat(1 << 20);
    let left = 1024;
    const more = (): void => {
      while (left-- > 0) {
        if (process.stdout.write(chunk)) continue;
        process.stdout.once('drain', more);
        return;
      }
    };
    more();
  }
  if (mode === 'drips') setInterval(() => process.stdout.write('{'), 20);

  let held: Message | undefined;
  let legacyProcess = false;
  const write = (message: object): void => {
    if (mode === 'chatty') process.stdout.write('INFO listening\n');
    if (mode === 'floods-stderr') process.stderr.write('x'.repeat(4 * 1024 * 1024), () => send(message));
    else send(message);
  };
  const send = (message: object): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const discover = {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  };
  const tools = { tools: [{ name: 'mode', description: 'The mode of this server.', inputSchema: { type: 'object' } }] };
  const speaksModern = ['dual', 'modern', 'late', 'two-answers', 'beside', 'claims-modern'].includes(mode);

  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => {
    const message = JSON.parse(line) as Message;
    const { id, method } = message;
    if (mode === 'dead' || mode === 'drips' || mode === 'long-line' || id === undefined) return;
    if (mode === 'late' && held && method !== 'server/discover') {
      write({ id: held.id, result: discover });
      held = undefined;
    }
    const isModern = message.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
    const modernHere = speaksModern && !legacyProcess && isModern;
    if (method === 'server/discover' && modernHere) {
      if (mode === 'late') held = message;
      else if (mode === 'beside')
        write({
          id,
          resultType: 'complete',
          _meta: {},
          result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        });
      else write({ id, result: discover });
      if (mode === 'two-answers') write({ id, error: { code: -32601, message: 'Method not found' } });
    } else if (method === 'initialize') {
      if (mode === 'modern')
        return write({
          id,
          error: {
            code: -32022,
            message: 'Unsupported protocol version',
            data: { supported: ['2026-07-28'], requested: '2025-11-25' },
          },
        });
      legacyProcess = true;
      write({
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: `hostile-${mode}`, version: '1.0.0' },
        },
      });
    } else if (mode === 'claims-modern' && isModern) {
      write({ id, error: { code: -32000, message: 'Server not initialized' } });
    } else if (method === 'tools/list')
      write({
        id,
        result: { ...(modernHere && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }), ...tools },
      });
    else if (method === 'tools/call')
      write({ id, result: { ...(modernHere && { resultType: 'complete' }), content: [{ type: 'text', text: mode }] } });
    else if (mode === 'silent') return;
    else if (mode === 'exits-on-question' || mode === 'single-instance') process.exit(1);
    else if (mode === 'null-id') write({ id: null, error: { code: -32600, message: 'Invalid Request' } });
    else if (mode === 'wrong-ids') for (const other of ['x', 0, -1, `${id}x`]) write({ id: other, result: discover });
    else write({ id, error: { code: -32601, message: 'Method not found' } });
  });
  input.on('close', () => {
    if (mode !== 'ignores-sigterm') process.exit(0);
    setInterval(() => {}, 1000);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv[2] as HostileStdioMode, process.argv[3]);
