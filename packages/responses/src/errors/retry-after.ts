/** When a service said that it may be asked again. */

/** Longer waits are no use to a model in a conversation. */
const LONGEST_SECONDS = 86_400;

/**
 * Seconds to wait by `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) or `retry-after-ms`, from a `Headers`
 * object or a plain one in any case; `undefined` without a usable value.
 *
 * @param nowMs milliseconds since the epoch, against which a date is measured
 */
export function retryAfterSeconds(headers: unknown, nowMs: number): number | undefined {
  const milliseconds = Number(header(headers, 'retry-after-ms') ?? Number.NaN);
  if (milliseconds > 0) return bounded(milliseconds / 1000);
  const value = header(headers, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return bounded(Number(value));
  return bounded((Date.parse(value) - nowMs) / 1000);
}

function bounded(seconds: number): number | undefined {
  return seconds > 0 ? Math.min(Math.ceil(seconds), LONGEST_SECONDS) : undefined;
}

function header(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if ('get' in headers && typeof headers.get === 'function') return asHeader(headers.get(name));
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return asHeader(Array.isArray(entry?.[1]) ? entry[1][0] : entry?.[1]);
}

function asHeader(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}
