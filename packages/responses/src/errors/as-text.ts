/** Text of anything, for messages that must not fail themselves. */

/** A string as it is, an error's message, JSON for plain data, and a name for the rest. Never throws. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (value instanceof Error) return value.message;
    if (typeof value === 'object' && value !== null) return JSON.stringify(value) ?? 'object';
    return typeof value === 'function' ? 'function' : String(value);
  } catch {
    // Cyclic, revoked or hostile: what it is cannot be told, and the error that is being worded matters more.
    return '[unreadable]';
  }
}
