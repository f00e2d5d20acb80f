/** One line of the log, whatever a client or an upstream put into a message: no forged lines, no terminal escapes. */

const MAX_LENGTH = 2_000;

/** Replaces control characters and direction marks by a visible stand-in, and cuts what is longer than a log is for. */
export function logLine(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, '␣');
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain;
}
