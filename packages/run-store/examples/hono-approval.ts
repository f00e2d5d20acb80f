/**
 * Approval over HTTP: GET shows what waits and changes nothing, POST decides, once.
 *
 * `GET /runs` lists what waits for the caller, `GET /runs/:id` peeks, `POST /runs/:id` takes
 * `{"approved": [ids], "rejected": [ids]}`.
 */
import {
  type AgentRunState,
  type CompleteDecision,
  DecisionError,
  OutcomeUnknownError,
  RunScopeError,
  type RunStore,
  RunStoreError,
} from '@mcp-interlock/run-store';
import { type Context, Hono } from 'hono';

export interface ApprovalOptions {
  readonly runs: RunStore<AgentRunState>;
  /** Who asks; from your session or token, never from the request's body. `undefined`: not signed in. */
  readonly callerOf: (c: Context) => { tenant: string; principal: string } | undefined;
  /** Goes on with a run that was decided: the agent loop of your host. */
  readonly goOn: (state: AgentRunState, decision: CompleteDecision) => Promise<unknown>;
}

export function approvalApp({ runs, callerOf, goOn }: ApprovalOptions): Hono {
  const app = new Hono();

  app.get('/runs', async (c) => {
    const scope = callerOf(c);
    if (!scope) return c.json({ error: 'Sign in first.' }, 401);
    return c.json(await runs.list({ ...scope, kind: 'approval', ...optional('cursor', c.req.query('cursor')) }));
  });

  app.get('/runs/:id', async (c) => {
    const scope = callerOf(c);
    if (!scope) return c.json({ error: 'Sign in first.' }, 401);
    const state = await runs.load(c.req.param('id'), { scope });
    if (!state) return c.json({ error: 'No such run waits; it may have been decided or have expired.' }, 404);
    return c.json({ asks: state.pendingApprovalToolCall?.toolCall, pending: state.pendingToolCallIds });
  });

  app.post('/runs/:id', async (c) => {
    const scope = callerOf(c);
    if (!scope) return c.json({ error: 'Sign in first.' }, 401);
    const decision = await c.req.json().catch(() => undefined);
    const resumed = await runs.resume(c.req.param('id'), decision, scope);
    switch (resumed.kind) {
      case 'resumed':
        return c.json({ answer: await goOn(resumed.state, resumed.decision) });
      case 'waiting':
        return c.json({ missing: resumed.missing }, 202);
      case 'not_found':
        return c.json({ error: 'No such run waits; it may have been decided or have expired.' }, 404);
      default:
        return resumed satisfies never;
    }
  });

  app.onError((error, c) => {
    // A stranger, and an id that no store gave out, learn as much as from an id that never was.
    const isNobodys =
      error instanceof RunScopeError || (error instanceof RunStoreError && error.code === 'INVALID_RUN_ID');
    if (isNobodys) return c.json({ error: 'No such run waits; it may have been decided or have expired.' }, 404);
    if (error instanceof DecisionError) return c.json({ error: error.message, problems: error.problems }, 422);
    if (error instanceof OutcomeUnknownError) return c.json({ error: 'Try again: the store did not answer.' }, 503);
    throw error;
  });
  return app;
}

function optional<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  // The computed key is of type K.
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: string });
}
