/** The kit under node:test; run by kit.test.ts in a process of its own. */
import { describe, it } from 'node:test';
import { describeRunStore } from '../../src/testing/index.js';
import { referenceHarness } from './reference-store.js';

describeRunStore(referenceHarness, { runner: { describe, it } });
