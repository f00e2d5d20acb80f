/** Progress and answers for calls that are over: a server may not have heard of the end yet, so they are told once, not line by line. */

/** How the SDK reports them; it gives them no code of their own. */
const LATE = /^Received a (?:progress notification for an unknown token|response for an unknown message ID)/;

/** Hands errors on to `tell`, and of the late messages of one connection only the first, without what it says. */
export function tellingLateOnesOnce(tell: (error: unknown) => void): (error: unknown) => void {
  let told = false;
  return (error) => {
    if (!(error instanceof Error) || !LATE.test(error.message)) return tell(error);
    if (told) return;
    told = true;
    tell(new Error('Messages came for a call that is over; they are left out, and further ones are not told.'));
  };
}
