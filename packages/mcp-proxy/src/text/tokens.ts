/** How many tokens a text may cost, without a tokenizer: a deliberate over-estimate of o200k_base. */

/**
 * An upper estimate of o200k tokens. Words of up to seven letters count one, longer ones one more for every four letters,
 * digits one for three, everything else one each, and characters beyond ASCII one and a half. On English tool lists it is
 * 10 to 30 % above the true count.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[A-Za-z]+|[0-9]+|\s+|[^A-Za-z0-9\s]/gu)) {
    const code = run.charCodeAt(0);
    if (code > 127) tokens += 1.5;
    else if (/[A-Za-z]/.test(run)) tokens += run.length <= 7 ? 1 : 1 + Math.ceil((run.length - 7) / 4);
    else if (/[0-9]/.test(run)) tokens += Math.ceil(run.length / 3);
    else if (run.trim() !== '' || run.includes('\n')) tokens += 1;
  }
  return Math.ceil(tokens);
}

/**
 * A bound that no name exceeds, however it was chosen: two small letters a token, three digits, and every change between them one
 * more; four for what lies beyond the basic plane.
 */
export function worstTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[a-z]+|[0-9]+|[^a-z0-9]/gu)) {
    const code = run.codePointAt(0) ?? 0;
    if (/[a-z]/.test(run)) tokens += Math.ceil(run.length / 2);
    else if (/[0-9]/.test(run)) tokens += Math.ceil(run.length / 3);
    else tokens += code > 0xffff ? 4 : code > 127 ? 3 : 1;
  }
  return tokens;
}
