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
