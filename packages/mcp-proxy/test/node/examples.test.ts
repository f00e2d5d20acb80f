import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../fixtures/scripted.js';

const folder = fileURLToPath(new URL('../../examples/node/', import.meta.url));
const tsx = createRequire(import.meta.url).resolve('tsx/cli');
const readme = fileURLToPath(new URL('../../README.md', import.meta.url));

async function run(example: string): Promise<string> {
  // The state of the person who runs the tests is not theirs to change.
  const env = { ...process.env, XDG_STATE_HOME: await aFolder() };
  const { stdout } = await promisify(execFile)(process.execPath, [tsx, join(folder, example)], { cwd: folder, env });
  return stdout;
}

describe('the examples', () => {
  it('open-proxy.ts finds a tool and calls it', async () => {
    const output = await run('open-proxy.ts');
    expect(output).toContain('everything: echo(message)');
    expect(output).toContain('Echo: hello');
  });

  it('provider.ts calls what its approval lets through', async () => {
    expect(await run('provider.ts')).toBe('Echo: hello\n');
  });

  it('gateway.ts serves hosts of both eras', async () => {
    expect(await run('gateway.ts')).toBe('hosts of both eras connect to http://127.0.0.1:<port>/mcp\n');
  });

  it.runIf(existsSync(readme)).each(['open-proxy.ts', 'provider.ts', 'gateway.ts'])(
    '%s is what the README shows',
    async (name) => {
      expect(await readFile(readme, 'utf8')).toContain((await readFile(join(folder, name), 'utf8')).trim());
    },
  );
});
