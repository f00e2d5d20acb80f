// Runs client scenarios of the official conformance suite one after another and prints a line of JSON for each.
// Started by npx, which puts the suite and the Node it needs on the PATH; the client runs on the Node of the tests.
import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [clientNode] = process.argv.slice(2);
const client = fileURLToPath(new URL('./client.mjs', import.meta.url));
const suite = process.env.PATH.split(delimiter)
  .map((folder) => join(folder, 'conformance'))
  .map((path) => {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  })
  .find(Boolean);
const home = dirname(dirname(suite));

/** The scenarios of a revision's requirements for clients, and those that are run but do not count. */
function requirements(revision) {
  const text = readFileSync(join(home, 'requirements', `${revision}.yaml`), 'utf8');
  const section = text.match(/^client:\n((?: {2}.*\n|\s*#.*\n)*)/m)?.[1] ?? '';
  const scored = [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  const unscored = [...text.matchAll(/- scenario: (\S+)\n\s+leg: client\n\s+reason: (\S+)/g)];
  return { scored, unscored: unscored.map(([, scenario, reason]) => ({ scenario, reason })) };
}

function runScenario(revision, scenario) {
  const command = `${JSON.stringify(clientNode)} ${JSON.stringify(client)}`;
  // Generous: how fast the machine is must not matter.
  const options = ['--scenario', scenario, '--spec-version', revision, '--timeout', '300000'];
  return new Promise((resolve) => {
    const run = spawn(process.execPath, [suite, 'client', '--command', command, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [run.stdout, run.stderr]) {
      stream.on('data', (text) => {
        output += text;
      });
    }
    run.on('close', (code) => {
      const [, passed, failed] = output.match(/Passed: (\d+)\/\d+, (\d+) failed/) ?? [];
      resolve({ revision, scenario, code, passed: Number(passed), failed: Number(failed), output });
    });
  });
}

const modern = requirements('2026-07-28');
console.log(JSON.stringify({ unscored: modern.unscored }));
const todo = [
  ...['initialize', 'tools_call', 'sse-retry'].map((scenario) => ['2025-11-25', scenario]),
  ...modern.scored.map((scenario) => ['2026-07-28', scenario]),
];
const work = async () => {
  for (let next = todo.shift(); next; next = todo.shift()) console.log(JSON.stringify(await runScenario(...next)));
};
await Promise.all([work(), work()]);
