/** What the worker process goes through, in order, and how long its lease is. */
export type Step = 'stored' | 'consumed' | 'claimed' | 'extended' | 'worked' | 'acknowledged';

export const LEASE_MS = 120_000;
