/** The conformance kit as a list of tests, as a report, and as tests of a runner. */
import { concurrencySuite } from './concurrency-suite.js';
import { contractSuite } from './contract-suite.js';
import { expirySuite } from './expiry-suite.js';
import { faultSuite } from './fault-suite.js';
import type { ConformanceTest, RunStoreHarness, TestRunner } from './harness.js';
import { type ModelOptions, modelSuite } from './model-suite.js';
import { resolveRunner } from './runner.js';

export interface ConformanceOptions {
  /** Of the property tests. */
  readonly model?: ModelOptions;
}

export interface DescribeOptions extends ConformanceOptions {
  /** Default: the `describe` and `it` that the runner put in the global scope. */
  readonly runner?: TestRunner;
}

export interface ConformanceReport {
  readonly passed: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
}

/** Every test that a store of these capabilities must pass. */
export function runStoreTests(harness: RunStoreHarness, options: ConformanceOptions = {}): ConformanceTest[] {
  return [
    ...contractSuite(harness),
    ...expirySuite(harness),
    ...concurrencySuite(harness),
    ...faultSuite(harness),
    ...modelSuite(harness, options.model),
  ];
}

/**
 * Registers the tests with vitest, node:test, or any runner with `describe` and `it`.
 *
 * @example
 * import { describe, it } from 'node:test';
 * describeRunStore(myHarness, { runner: { describe, it } });
 */
export function describeRunStore(harness: RunStoreHarness, options: DescribeOptions = {}): void {
  register(harness.name, runStoreTests(harness, options), resolveRunner(options.runner));
}

/** Runs the tests one after another without a runner, and says which passed. Never rejects for a store's sake. */
export async function checkRunStore(
  harness: RunStoreHarness,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  return reportOn(runStoreTests(harness, options));
}

export function register(name: string, tests: readonly ConformanceTest[], runner: TestRunner): void {
  runner.describe(name, () => {
    for (const test of tests) runner.it(test.name, () => test.run());
  });
}

export async function reportOn(tests: readonly ConformanceTest[]): Promise<ConformanceReport> {
  const passed: string[] = [];
  const failed: { name: string; error: unknown }[] = [];
  for (const { name, run } of tests) {
    try {
      await run();
      passed.push(name);
    } catch (error) {
      failed.push({ name, error });
    }
  }
  return { passed, failed };
}
