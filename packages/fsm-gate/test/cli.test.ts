import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonErrorPosition } from '../src/cli/json-position.js';

const BIN = fileURLToPath(new URL('../bin/fsm-gate.js', import.meta.url));
const require = (name: string) => pathToFileURL(fileURLToPath(import.meta.resolve(name))).href;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fsm-gate-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the command on a file of that content. */
async function run(name: string, content: string, ...args: string[]) {
  const file = join(folder, name);
  await writeFile(file, content);
  const [command = '', ...options] = args;
  return runBare(command, name, ...options);
}

function runBare(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...args], { cwd: folder }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

const SOUND = {
  initial: 'empty',
  states: { empty: { on: { ADD: 'full' } }, full: { on: { PAY: 'paid' } }, paid: { type: 'final' } },
  tools: { add: { states: 'empty', event: 'ADD' }, pay: { states: ['full'], event: 'PAY' }, show: ['empty', 'full'] },
};
const json = (value: unknown) => JSON.stringify(value, null, 2);

describe('fsm-gate verify', () => {
  test('exits with 0 for a sound gate in JSON', async () => {
    const { code, out } = await run('sound.json', json(SOUND), 'verify');
    expect(out).toContain('sound.json: 3 states, 3 bound tools; 0 errors, 0 warnings.');
    expect(code).toBe(0);
  });

  test('exits with 1 for an error and says what to do', async () => {
    const wrong = { ...SOUND, tools: { ...SOUND.tools, pay: { states: ['fulll'], event: 'PAY' } } };
    const { code, out } = await run('wrong.json', json(wrong), 'verify');
    expect(out).toContain('error: Tool pay is bound to state fulll');
    expect(code).toBe(1);
  });

  test('takes warnings for errors only when it is strict', async () => {
    const deadEnd = { ...SOUND, states: { ...SOUND.states, paid: {} } };
    expect((await run('dead-end.json', json(deadEnd), 'verify')).code).toBe(0);
    expect((await run('dead-end.json', json(deadEnd), 'verify', '--strict')).code).toBe(1);
  });

  test('compares the bindings with the registered tools', async () => {
    expect((await run('sound.json', json(SOUND), 'verify', '--tools', 'add, pay ,show')).code).toBe(0);
    const { code, out } = await run('sound.json', json(SOUND), 'verify', '--tools=add,show');
    expect(out).toContain('Tool pay is bound but not registered');
    expect(out).toContain('; 1 error, 0 warnings.');
    expect(code).toBe(1);
  });

  test('prints findings as JSON for programs', async () => {
    const { out } = await run('sound.json', json(SOUND), 'verify', '--json', '--tools', 'add,show');
    expect(JSON.parse(out)).toMatchObject({
      file: 'sound.json',
      findings: [{ code: 'tool-not-registered', tool: 'pay' }],
    });
  });

  test('names line and column where JSON does not parse, and exits with 2', async () => {
    const { code, err } = await run('broken.json', '{\n  "initial": "a",\n  "states": { "a": {}, }\n}\n', 'verify');
    expect(err).toContain('broken.json:3:24: this is not JSON from here on.');
    expect(code).toBe(2);
  });

  test('says which field of a config cannot work, and exits with 2', async () => {
    const { code, err } = await run('config.json', json({ ...SOUND, initial: 'emtpy' }), 'verify');
    expect(err).toContain('emtpy');
    expect(code).toBe(2);
  });

  test.each([
    ['[]', 'no object'],
    ['{ "initial": "a", "states": { "a": {} }, "tools": ["pay"] }', '"tools" must be an object'],
    ['{ "initial": "a", "states": { "a": {} }, "tools": { "pay": { "states": 7 } } }', 'pay'],
  ])('refuses %s with a reason', async (content, reason) => {
    const { code, err } = await run('odd.json', content, 'verify');
    expect(err).toContain(reason);
    expect(code).toBe(2);
  });

  test('exits with 2 for a file that is not there', async () => {
    const { code, err } = await runBare('verify', 'missing.json');
    expect(err).toContain('missing.json cannot be read');
    expect(code).toBe(2);
  });
});

describe('a JavaScript module may export', () => {
  const index = () => require('@mcp-interlock/fsm-gate');
  const verified = async (name: string, source: string) => {
    const { code, out, err } = await run(name, source, 'verify', '--tools', 'add,pay,show');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('3 bound tools');
  };

  test('a config with its tools', () => verified('config.mjs', `export default ${json(SOUND)}`));

  test('a config beside its tools', () =>
    verified('named.mjs', `const { tools, ...config } = ${json(SOUND)}; export { config, tools };`));

  test('a gate', () =>
    verified(
      'gate.mjs',
      `import { StateMachineGate } from '${index()}';
       const { tools, ...config } = ${json(SOUND)};
       export const gate = new StateMachineGate(config);
       gate.bindTool('add', 'empty', 'ADD').bindTool('pay', 'full', 'PAY').bindTool('show', ['empty', 'full']);`,
    ));

  test('an XState machine with tools', () =>
    verified(
      'machine.mjs',
      `import { createMachine } from '${require('xstate')}';
       const { tools: all, ...config } = ${json(SOUND)};
       export const machine = createMachine(config);
       export const tools = all;`,
    ));

  test('nothing else', async () => {
    const { code, err } = await run('other.mjs', 'export const cart = 1;', 'verify');
    expect(err).toContain('no export is named default, gate, machine or config');
    expect(code).toBe(2);
  });

  test('no module that throws: its message is shown', async () => {
    const { code, err } = await run('throws.mjs', 'throw new Error("no database");', 'verify');
    expect(err).toContain('throws.mjs cannot be read: no database');
    expect(code).toBe(2);
  });
});

describe('fsm-gate --version', () => {
  test('prints the version of the package and nothing else', async () => {
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    expect(await runBare('--version')).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
  });
});

describe('a module that prints', () => {
  const printing = `
    console.log('starting up');
    process.stdout.write('and more');
    export default ${json({ initial: SOUND.initial, states: SOUND.states })};
  `;

  test('does not get into the diagram', async () => {
    const { code, out, err } = await run('printing.mjs', printing, 'diagram');
    expect(code).toBe(0);
    expect(out.startsWith('stateDiagram-v2\n')).toBe(true);
    expect(out).not.toContain('starting up');
    expect(err).toBe('starting up\nand more');
  });

  test('leaves the findings in JSON as they are', async () => {
    const { out } = await run('printing.mjs', printing, 'verify', '--json');
    expect(JSON.parse(out)).toMatchObject({ file: 'printing.mjs' });
  });
});

describe('fsm-gate diagram', () => {
  test('draws the gate and marks the state', async () => {
    const { code, out } = await run('sound.json', json(SOUND), 'diagram', '--current', 'full', '--direction', 'LR');
    expect(out).toMatch(/^stateDiagram-v2\n {2}direction LR\n/);
    expect(out).toContain('s1 --> s2 : PAY by pay');
    expect(out).toContain('class s1 current');
    expect(code).toBe(0);
  });

  test('exits with 2 for a state to mark that the gate has not, and names those that it has', async () => {
    const { code, out, err } = await run('sound.json', json(SOUND), 'diagram', '--current', 'ful');
    expect(err).toContain('--current is "ful", which is none of the states: empty, full');
    expect(out).toBe('');
    expect(code).toBe(2);
  });
});

describe('the command line', () => {
  test.each([
    [[], 'a command is missing'],
    [['prove', 'x.json'], 'there is no command "prove"'],
    [['verify'], 'verify needs a file'],
    [['verify', 'a.json', 'b.json'], 'verify takes one file; "b.json" is another'],
    [['verify', 'a.json', '--tools'], '--tools needs a value'],
    [['diagram', 'a.json', '--strict'], 'diagram knows no option --strict'],
    [['diagram', 'a.json', '--direction', 'up'], '--direction is LR, RL, TB or BT'],
  ])('%j is refused with a reason and the usage', async (args, reason) => {
    const { code, err } = await runBare(...args);
    expect(err).toContain(reason);
    expect(err).toContain('Usage:');
    expect(code).toBe(2);
  });

  test('explains itself', async () => {
    const { code, out } = await runBare('--help');
    expect(out).toContain('Exit codes: 0 sound or drawn; 1');
    expect(code).toBe(0);
  });
});

describe('the place where JSON breaks', () => {
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test('is found in exactly those texts that do not parse', () => {
    const mutated = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', ']', '"', '\\', ':', '0', '-', 'e', '.', 'tru', '\n', '\u0001', 'é'),
      )
      .map(([text, at, insert]) => {
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + insert + text.slice(cut + (at % 2));
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string(), fc.json()), (text) => {
        expect(jsonErrorPosition(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('is the first character that cannot be there', () => {
    // Numbers and escapes are judged whole, so their beginning is named.
    const plain = fc.json().filter((text) => !/\\|\d[.eE]|-/.test(text));
    fc.assert(
      fc.property(plain, fc.nat(), (text, at) => {
        const cut = at % text.length;
        const position = jsonErrorPosition(`${text.slice(0, cut)}\u0001`);
        expect(position).toEqual({ line: 1, column: cut + 1 });
      }),
    );
  });

  test.each([
    ['', { line: 1, column: 1 }],
    ['{\r\n"a": 1,\r\n}', { line: 3, column: 1 }],
    ['[1, 2', { line: 1, column: 6 }],
    ['{"a": tru}', { line: 1, column: 10 }],
    ['"\\x"', { line: 1, column: 2 }],
  ])('of %j is %j', (text, position) => {
    expect(jsonErrorPosition(text)).toEqual(position);
  });
});
