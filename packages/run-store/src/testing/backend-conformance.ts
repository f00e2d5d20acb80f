/** The kit at the level of a driver: as a list of tests, as a report, and as tests of a runner. */
import { backendCellSuite } from './backend-cells.js';
import { backendClaimSuite } from './backend-claims.js';
import { backendConcurrencySuite } from './backend-concurrency.js';
import type { RunBackendHarness } from './backend-harness.js';
import { backendIndexSuite } from './backend-index.js';
import { backendModelSuite } from './backend-model.js';
import { backendValueSuite } from './backend-values.js';
import {
  type ConformanceOptions,
  type ConformanceReport,
  type DescribeOptions,
  register,
  reportOn,
} from './conformance.js';
import type { ConformanceTest } from './harness.js';
import { resolveRunner } from './runner.js';

/** Every test of a driver. A facet that the driver does not have passes at once. */
export function runBackendTests(harness: RunBackendHarness, options: ConformanceOptions = {}): ConformanceTest[] {
  return [
    ...backendValueSuite(harness),
    ...backendCellSuite(harness),
    ...backendClaimSuite(harness),
    ...backendIndexSuite(harness),
    ...backendConcurrencySuite(harness),
    ...backendModelSuite(harness, options.model),
  ];
}

/**
 * Registers the tests of a driver with vitest, node:test, or any runner with `describe` and `it`.
 *
 * @example
 * describeRunBackend({ name: 'mine', open: async () => ({ backend: myBackend(), close: async () => {} }) });
 */
export function describeRunBackend(harness: RunBackendHarness, options: DescribeOptions = {}): void {
  register(harness.name, runBackendTests(harness, options), resolveRunner(options.runner));
}

/** Runs the tests without a runner, and says which passed. */
export async function checkRunBackend(
  harness: RunBackendHarness,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  return reportOn(runBackendTests(harness, options));
}
