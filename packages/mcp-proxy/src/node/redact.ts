/** Takes the secrets of a server's configuration out of text that a person or a model will read. */
import type { UpstreamConfig } from './config.js';

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

/** Everything of a server's entry that is nobody else's business, whether it was written there or came from a variable. */
export function secretsOf({ endpoint, oauth, variableValues = [] }: UpstreamConfig): readonly string[] {
  const own = [...variableValues.filter((value) => !isPath(value)), oauth.clientSecret ?? ''];
  if (endpoint.type === 'stdio') return [...own, ...Object.values(endpoint.env)];
  const { password, searchParams } = new URL(endpoint.url);
  return [...own, ...Object.values(endpoint.headers), password, ...searchParams.values()];
}

/** The same error, with the secrets taken out of its message and of those of its causes: a server may repeat what it was sent. */
export function redactError<E>(error: E, redact: Redactor): E {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth += 1) {
    const message = redact(current.message);
    if (message !== current.message) {
      // Defined, not assigned: the message of a DOMException can only be read.
      const stack = current.stack === undefined ? undefined : redact(current.stack);
      Reflect.defineProperty(current, 'message', { value: message, configurable: true, writable: true });
      Reflect.defineProperty(current, 'stack', { value: stack, configurable: true, writable: true });
    }
    current = current.cause;
  }
  return error;
}

/** Data of any shape without the secrets in its texts. */
export function redactData(data: unknown, redact: Redactor): unknown {
  if (typeof data === 'string') return redact(data);
  const text = JSON.stringify(data) ?? '';
  const safe = redact(text);
  if (safe === text) return data;
  try {
    return JSON.parse(safe);
  } catch {
    // A secret that looks like JSON was taken out together with its structure.
    return safe;
  }
}

/** A variable such as HOME says where things are; taking it out would make messages useless. */
function isPath(value: string): boolean {
  return /^(?:\/|~|[A-Za-z]:\\)/.test(value);
}
