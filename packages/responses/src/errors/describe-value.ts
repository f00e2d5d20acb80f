/** A value that came, in a few words, for an error that tells what was wrong with it. */

const SHOWN = 60;

/** Values under such keys are told by their kind only, for errors end up in logs. */
const SECRET_KEY =
  /pass(?:word|wd|phrase)?|secret|token|api[-_]?key|auth|credential|private|session|cookie|\bpin\b|cvv|ssn/i;

/** `"blu"`, `5`, `a list of 3`, `nothing`. @param key the field's name, which decides whether the value may be shown */
export function describeValue(value: unknown, key: string): string {
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'string':
      if (isSecretKey(key)) return `a text of ${value.length} characters`;
      return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
    case 'number':
    case 'boolean':
    case 'bigint':
      return isSecretKey(key) ? `a ${typeof value}` : String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** Whether a field of this name is likely to hold what nobody else may read. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}
