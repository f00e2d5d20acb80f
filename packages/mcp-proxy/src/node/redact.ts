/** Takes the secrets of a server's configuration out of text that a person or a model will read. */

/** Shorter values (`true`, `8080`) are no secrets, and replacing them would garble every message. */
const SHORTEST_SECRET = 6;

export type Redactor = (text: string) => string;

/** A redactor of the given values, also of the token part of `Bearer <token>`. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const values = new Set<string>();
  for (const secret of secrets) {
    for (const value of [secret, secret.replace(/^(?:Bearer|Basic|Token)\s+/i, '')]) {
      if (value.length >= SHORTEST_SECRET) values.add(value);
    }
  }
  // The longest first: a secret may contain another.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((result, value) => result.replaceAll(value, '[secret]'), text);
}

/** Control characters, ANSI sequences and bidirectional overrides removed; for the stderr of a server. */
export function plainText(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
  );
}
