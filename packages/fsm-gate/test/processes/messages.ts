/** What the parent and the workers tell each other. */
import type { AuditRecord } from '../../src/audit/index.js';

/** Where a process can die. */
export type Phase =
  | 'before the reservation'
  | 'while it waits'
  | 'after the reservation'
  | 'before the effect'
  | 'after a renewal'
  | 'after the effect'
  | 'before the commit'
  | 'in the commit'
  | 'after the commit';

export type ToWorker =
  | {
      readonly do: 'call';
      readonly id: number;
      readonly key: string;
      readonly tool: string;
      /** The Redis list to which the callback writes. */
      readonly log: string;
      readonly stopIn?: Phase;
      /** The callback waits until something is pushed to this Redis list. */
      readonly holdUntil?: string;
    }
  | { readonly do: 'exit' };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'phase'; readonly phase: Phase }
  | { readonly kind: 'record'; readonly record: AuditRecord }
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: string };
