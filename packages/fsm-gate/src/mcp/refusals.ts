/** What a refused call is answered with. */
import { refusalText } from '../decision.js';
import type { RefusedDecision } from '../decision-types.js';
import { listOf } from './names.js';

/** The call belongs to no session, so that its state is unknown; see `StateKeyResolver`. */
export interface NoSessionRefusal {
  readonly kind: 'refused';
  readonly reason: 'no_session';
  readonly tool: string;
}

/** The session named by the call's arguments is not the caller's, not valid any more, or not named at all. */
export interface BadKeyRefusal {
  readonly kind: 'refused';
  readonly reason: 'bad_key';
  readonly tool: string;
  /** What to tell the model. */
  readonly detail: string;
}

/** The state could not be read; nothing was run. */
export interface UnavailableRefusal {
  readonly kind: 'refused';
  readonly reason: 'unavailable';
  readonly tool: string;
}

/** Why a call did not reach its tool: the gate's decision, or what kept the gate from deciding. */
export type CallRefusal = RefusedDecision | NoSessionRefusal | BadKeyRefusal | UnavailableRefusal;

/** A tool result that both SDK generations send. `isError` need not be set: a refusal is always sent as an error. */
export interface RefusalResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly isError?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** Words a refusal as a tool result: `attachGate`'s `refusal` option. One that throws is reported, and the default is sent. */
export type RefusalRenderer = (refusal: CallRefusal) => RefusalResult;

/** The default: a text that names the state and leads on. */
export const renderRefusal: RefusalRenderer = (refusal) => ({
  content: [{ type: 'text', text: textOfRefusal(refusal) }],
  isError: true,
});

/** The default's text, for renderers that put it elsewhere. */
export function textOfRefusal(refusal: CallRefusal): string {
  switch (refusal.reason) {
    case 'closed':
    case 'arguments':
    case 'busy':
      // Prompts and resources are bound like tools, but a model cannot call them.
      return refusalText({ ...refusal, openTools: refusal.openTools.filter((name) => listOf(name) === 'tools') });
    case 'no_session':
      return (
        `"${refusal.tool}" was not run: it depends on the state of a session, and this connection has none. ` +
        'Connect with a session or with authorization, and try again.'
      );
    case 'bad_key':
      return refusal.detail;
    case 'unavailable':
      return `"${refusal.tool}" was not run: the state of this session cannot be read at the moment. Try again later.`;
    default:
      return refusal satisfies never;
  }
}
