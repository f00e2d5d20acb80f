/** Takes secrets out of errors and data, whatever their shape. */
import type { Redactor, Secrets } from './secrets.js';

/** The same error, with the secrets taken out of its message, of its data and of its causes: a server may repeat what it was sent. */
export function redactError<E>(error: E, redact: Redactor): E {
  const open: unknown[] = [error];
  for (let count = 0; open.length > 0 && count < 16; count += 1) {
    const current = open.pop();
    if (!(current instanceof Error)) continue;
    // Defined, not assigned: the message of a DOMException can only be read.
    replaceText(current, 'message', redact);
    replaceText(current, 'stack', redact);
    for (const key of Object.keys(current)) {
      if (key === 'code' || key === 'serverName') continue;
      const value: unknown = Reflect.get(current, key);
      if (typeof value === 'string') replaceText(current, key, redact);
      else if (!(value instanceof Error)) redactTexts(value, redact);
    }
    open.push(current.cause, ...(current instanceof AggregateError ? current.errors : []));
  }
  return error;
}

/** Data of any shape without the secrets in its texts; also those that it only holds when it is written as JSON. */
export function redactData(data: unknown, redact: Redactor): unknown {
  const inside = redactTexts(data, redact);
  if (typeof inside === 'string') return inside;
  let safe: string;
  try {
    const text = JSON.stringify(inside) ?? '';
    safe = redact(text);
    if (safe === text) return inside;
  } catch {
    // Too deep to be written as JSON by anybody.
    return inside;
  }
  try {
    return JSON.parse(safe);
  } catch {
    // A secret that looks like JSON was taken out together with its structure.
    return safe;
  }
}

/** An upstream's answer to a call: what says that it failed is told like an error, everything else loses credentials only. */
export function redactResult(result: unknown, { redact, redactCredentials, hasCredentials }: Secrets): unknown {
  const safe = hasCredentials ? redactTexts(result, redactCredentials) : result;
  const failed = typeof safe === 'object' && safe !== null && 'isError' in safe && safe.isError === true;
  return failed ? redactTexts(safe, redact, PROTOCOL_WORDS) : safe;
}

interface WhereToRedact {
  readonly redactKey?: Redactor;
  /** Keys whose values stay as they are. */
  readonly except?: ReadonlySet<string>;
}

/** A value of an entry may be a word of the protocol (`content`, `resource`, `image/png`), and a host cannot read a result without those. */
const PROTOCOL_WORDS: WhereToRedact = { redactKey: (key) => key, except: new Set(['type', 'mimeType']) };

/**
 * Takes secrets out of every string, number and key of parsed JSON, in place: what comes from a server belongs to nobody else, and
 * copying what may be large would cost every call. It may be nested deeper than the stack is, so nothing here calls itself.
 */
export function redactTexts<T>(data: T, redact: Redactor, { redactKey = redact, except }: WhereToRedact = {}): T {
  const holder = { data };
  const open: object[] = [holder];
  const seen = new Set<object>(open);
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const key of Object.keys(current)) {
      const value: unknown = Reflect.get(current, key);
      if (typeof value === 'object' && value !== null && !seen.has(value)) {
        seen.add(value);
        open.push(value);
      }
      const safeKey = redactKey(key);
      const safeValue = except?.has(key) ? value : safeScalar(value, redact);
      if (safeKey === key && safeValue === value) continue;
      if (safeKey !== key) Reflect.deleteProperty(current, key);
      define(current, safeKey, safeValue);
    }
  }
  return holder.data;
}

function safeScalar(value: unknown, redact: Redactor): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'number') return value;
  const text = String(value);
  const safe = redact(text);
  return safe === text ? value : safe;
}

function replaceText(holder: object, key: string, redact: Redactor): void {
  const value: unknown = Reflect.get(holder, key);
  const safe = typeof value === 'string' ? redact(value) : value;
  if (safe !== value) Reflect.defineProperty(holder, key, { value: safe, configurable: true, writable: true });
}

/** Not assigned: a key of parsed JSON may be `__proto__`. */
function define(holder: object, key: string, value: unknown): void {
  Reflect.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
}
