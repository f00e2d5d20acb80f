import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

/** The suite needs Node 22 and is far too large to be everybody's dependency: it is fetched when this runs. */
const FETCHED = ['-y', '-p', 'node@22', '-p', '@modelcontextprotocol/conformance@0.2.0-alpha.12'];
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E40[1-4]|E5\d\d/;
const HALF_AN_HOUR = 1_800_000;

/** What each of these would take that a client of this package has not. */
const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
  'auth/client-credentials-jwt': 'extension: sign-in without a user',
  'auth/client-credentials-basic': 'extension: sign-in without a user',
  'auth/enterprise-managed-authorization': "extension: sign-in by an enterprise's identity provider",
  'auth/dpop': 'extension: sender-constrained tokens',
  'auth/dpop-nonce': 'extension: sender-constrained tokens',
  'auth/wif-jwt-bearer': 'extension: workload identity',
  'json-schema-2020-12-preservation': 'added after the revision was released',
};

interface Outcome {
  readonly revision: string;
  readonly scenario: string;
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

let outcomes: Outcome[] = [];
let unscored: { scenario: string; reason: string }[] = [];
let unreachable = '';

beforeAll(async () => {
  const script = fileURLToPath(new URL('./conformance/run.mjs', import.meta.url));
  const { code, out, err } = await runNpx([...FETCHED, 'node', script, process.execPath]);
  if (code !== 0 && NO_REGISTRY.test(err) && !process.env.CI) {
    unreachable = 'the npm registry cannot be reached, from which the conformance suite is fetched';
    console.warn(`mcp-era: skipped, ${unreachable}`);
    return;
  }
  expect(code, err).toBe(0);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  unscored = lines.find((line) => line.unscored)?.unscored;
  outcomes = lines.filter((line) => line.scenario);
}, HALF_AN_HOUR);

/** In a group of its own, so that nothing of it outlives the test. */
function runNpx(args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    // What is in npm's cache is taken from there, and a registry that is not there is soon given up.
    const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_fetch_retries: '1' };
    const child = spawn('npx', args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const reap = (): void => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // The group has ended.
      }
    };
    process.once('exit', reap);
    let [out, err] = ['', ''];
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.stderr.on('data', (text) => {
      err += text;
    });
    child.once('close', (code) => {
      process.off('exit', reap);
      reap();
      resolve({ code, out, err });
    });
  });
}

describe('the official conformance suite, with connectClient as the client', () => {
  test.for(['initialize', 'sse-retry', 'tools_call'])('%s of 2025-11-25 passes', (scenario, { skip }) => {
    if (unreachable) skip(unreachable);
    const outcome = outcomes.find((one) => one.revision === '2025-11-25' && one.scenario === scenario);
    expect(outcome, outcome?.output).toMatchObject({ code: 0, failed: 0 });
    expect(outcome?.passed).toBeGreaterThan(0);
  });

  test('everything that 2026-07-28 requires of a client passes', ({ skip }) => {
    if (unreachable) skip(unreachable);
    const modern = outcomes.filter(({ revision }) => revision === '2026-07-28');
    expect(modern.length).toBeGreaterThanOrEqual(30);
    for (const named of ['request-metadata', 'http-standard-headers', 'tools_call']) {
      expect(modern.map(({ scenario }) => scenario)).toContain(named);
    }
    const bad = modern.filter(({ code, failed, passed }) => code !== 0 || failed !== 0 || !(passed > 0));
    expect(bad, bad.map(({ scenario, output }) => `${scenario}\n${output}`).join('\n')).toEqual([]);
  });

  test('what does not count is known, with the reason', ({ skip }) => {
    if (unreachable) skip(unreachable);
    expect(unscored.map(({ scenario }) => scenario).sort()).toEqual(Object.keys(DOES_NOT_APPLY).sort());
  });
});
