/** The conformance kit: what a run store must do, as tests for any runner and for stores of others. */
export { ConformanceError } from './assert.js';
export { checkRunBackend, describeRunBackend, runBackendTests } from './backend-conformance.js';
export type { BackendUnderTest, RunBackendHarness } from './backend-harness.js';
export { expiryIgnoredHarness, getThenDeleteHarness } from './broken-stores.js';
export {
  type ConformanceOptions,
  type ConformanceReport,
  checkRunStore,
  type DescribeOptions,
  describeRunStore,
  runStoreTests,
} from './conformance.js';
export type {
  AgentRunState,
  AgentRunStore,
  ConformanceTest,
  OpenOptions,
  RunStoreHarness,
  StoreCapabilities,
  StoreUnderTest,
  TestRunner,
  UnreliableConnection,
} from './harness.js';
export {
  checkHistory,
  describeViolation,
  type HistoryCall,
  HistoryRecorder,
  type HistoryReport,
  type Outcome,
  type Violation,
} from './history.js';
export type { ModelOptions } from './model-suite.js';
export { answerParent, type ForkedStore, type ForkStoreOptions, forkStore } from './processes.js';
export { aPausedRun, aRunBeyondJson, aRunWithAwkwardText } from './sample-runs.js';
