/** Payments: small ones are made at once, large ones wait in the run-store until an operator has decided. */
import {
  type AgentRunState,
  newAgentRunId,
  OutcomeUnknownError,
  type RunScope,
  type RunStore,
  RunStoreError,
} from '@mcp-interlock/run-store';
import { z } from 'zod';

const orderSchema = z.object({
  sessionKey: z.string(),
  principal: z.string(),
  /** Whole euros. */
  amount: z.number(),
  /** `2 × Desk lamp` and so on, for the operator to read. */
  items: z.array(z.string()).readonly(),
});

/** What is to be paid, and by whom. */
export type PaymentOrder = Readonly<z.infer<typeof orderSchema>>;

export interface Receipt {
  readonly receipt: string;
  readonly amount: number;
}

/** How an operator's decision ended; kept with the run for those who ask again. */
type PaymentOutcome = { readonly sessionKey: string } & (
  | { readonly kind: 'paid'; readonly answer: Receipt }
  | { readonly kind: 'rejected'; readonly answer: { readonly reason: string } }
);

/** A paused payment as an operator sees it. */
export interface WaitingPayment {
  readonly runId: string;
  /** Without the session: its id lets whoever knows it act as the agent. */
  readonly order: Omit<PaymentOrder, 'sessionKey'>;
}

/** What waits for an operator. A run that cannot be read hides none of the others. */
export interface WaitingPayments {
  readonly payments: readonly WaitingPayment[];
  readonly unreadable: readonly { readonly runId: string; readonly error: unknown }[];
}

export type Decision = { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string };

export type DecisionResult =
  | { readonly kind: 'decided'; readonly outcome: PaymentOutcome; readonly order: PaymentOrder }
  /** Somebody was first; their outcome stands. */
  | { readonly kind: 'already_decided'; readonly outcome: PaymentOutcome }
  | { readonly kind: 'being_decided' }
  | { readonly kind: 'unknown' };

export type PaymentProgress =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'settled'; readonly outcome: PaymentOutcome }
  | { readonly kind: 'unknown' };

/** One decision may take this long before another operator may try, in milliseconds. */
const DECISION_LEASE_MS = 30_000;
/** A store whose answers are lost this often in a row is down, and the agent is told so. */
const STORE_ATTEMPTS = 3;
const TENANT = 'demo';

export class Payments {
  readonly #runs: RunStore<AgentRunState>;

  constructor(runs: RunStore<AgentRunState>) {
    this.#runs = runs;
  }

  /**
   * Makes a payment now. The demo has no bank: a receipt stands for the effect. As with a bank, a payment repeated under
   * the same key is the same payment, so that a decision that died half way can be given again.
   */
  pay(order: PaymentOrder, idempotencyKey: string): Receipt {
    return { receipt: `receipt-${idempotencyKey}`, amount: order.amount };
  }

  /** Parks a payment and returns the id of its run: whoever holds it may ask how it went. */
  async park(order: PaymentOrder): Promise<string> {
    const runId = newAgentRunId();
    const toolCall = { id: `call-${runId}`, name: 'cart_pay', arguments: { amount: order.amount, items: order.items } };
    const state: AgentRunState = {
      messages: [{ role: 'assistant', content: '', toolCalls: [toolCall] }],
      pendingToolCallIds: [toolCall.id],
      stepsSoFar: 1,
      tokensSoFar: 0,
      pauseKind: 'approval',
      pendingApprovalToolCall: { toolCall, isClientTool: false },
      meta: order,
    };
    await this.#storeOnce(runId, state, scopeOf(order.principal));
    return runId;
  }

  /**
   * Where a reply was lost, the run is stored again under the same id, which finds the first one or makes it. An error
   * instead would let the agent pay again, beside a run that an operator can still approve.
   */
  async #storeOnce(runId: string, state: AgentRunState, scope: RunScope): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#runs.store(runId, state, { scope, ifAbsent: true });
      } catch (error) {
        if (attempt > 1 && error instanceof RunStoreError && error.code === 'RUN_EXISTS') return;
        if (!(error instanceof OutcomeUnknownError) || attempt === STORE_ATTEMPTS) throw error;
      }
    }
  }

  /** Looks at a paused payment without touching it. */
  async peek(runId: string): Promise<WaitingPayment | undefined> {
    const state = await knownOnly(this.#runs.load(runId));
    if (!state) return undefined;
    const { sessionKey: _, ...order } = orderOf(state);
    return { runId, order };
  }

  /** Payments that wait for an operator. */
  async waiting(): Promise<WaitingPayments> {
    const payments: WaitingPayment[] = [];
    const unreadable: { runId: string; error: unknown }[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#runs.list({ tenant: TENANT, kind: 'approval', ...(cursor !== undefined && { cursor }) });
      for (const { runId } of page.runs) {
        try {
          const payment = await this.peek(runId);
          if (payment) payments.push(payment);
        } catch (error) {
          unreadable.push({ runId, error });
        }
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    return { payments, unreadable };
  }

  /**
   * Resumes a paused payment, once: the run is claimed, the payment made, the outcome recorded. When this process dies in
   * between, the claim expires and the decision can be given again; when it was recorded, everybody else gets that outcome.
   */
  async decide(runId: string, decision: Decision, operator: string): Promise<DecisionResult> {
    const claimed = await knownOnly(this.#runs.claim(runId, { leaseMs: DECISION_LEASE_MS, owner: operator }));
    switch (claimed?.kind) {
      case 'claimed': {
        const order = await orderOrRelease(claimed.claim);
        const outcome: PaymentOutcome = {
          sessionKey: order.sessionKey,
          ...(decision.kind === 'approve'
            ? { kind: 'paid', answer: this.pay(order, runId) }
            : { kind: 'rejected', answer: { reason: decision.reason } }),
        };
        await claimed.claim.ack({ outcome });
        return { kind: 'decided', outcome, order };
      }
      case 'settled':
        return { kind: 'already_decided', outcome: outcomeOf(claimed.outcome) };
      case 'held':
        return { kind: 'being_decided' };
      case 'not_found':
      case undefined:
        return { kind: 'unknown' };
      default:
        return claimed satisfies never;
    }
  }

  /** How a parked payment stands, for the principal that it belongs to; to everybody else it is unknown. */
  async progress(runId: string, principal: string): Promise<PaymentProgress> {
    const scope = scopeOf(principal);
    // Waiting first: a run that is decided between the two reads is found by the second.
    if (await knownOnly(this.#runs.load(runId, { scope }))) return { kind: 'waiting' };
    const settled = await knownOnly(this.#runs.outcome(runId, { scope }));
    return settled ? { kind: 'settled', outcome: outcomeOf(settled.outcome) } : { kind: 'unknown' };
  }
}

/** Somebody else's run, or an id that no run can have: to whoever asks, both are unknown. */
async function knownOnly<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    const isUnknown = error instanceof RunStoreError && ['SCOPE_MISMATCH', 'INVALID_RUN_ID'].includes(error.code);
    if (isUnknown) return undefined;
    throw error;
  }
}

function scopeOf(principal: string): RunScope {
  return { tenant: TENANT, principal };
}

/** Throws when the run is no payment: what a store holds may have been written by anybody. */
function orderOf(state: AgentRunState): PaymentOrder {
  const order = orderSchema.safeParse(state.meta);
  if (order.success) return order.data;
  throw new Error(`This run is no payment: its meta is not an order (${z.prettifyError(order.error)}).`);
}

/** A run that is no payment is nobody's to hold: its claim is given back before the error goes out. */
async function orderOrRelease(claim: { state: AgentRunState; release(): Promise<unknown> }): Promise<PaymentOrder> {
  try {
    return orderOf(claim.state);
  } catch (error) {
    await claim.release();
    throw error;
  }
}

function outcomeOf(value: unknown): PaymentOutcome {
  return value as PaymentOutcome;
}
