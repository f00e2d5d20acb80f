/** The mark that tells our results from data that merely looks like one. */

/**
 * Non-enumerable own property of every result that a helper of this package built. It is registered (`Symbol.for`), so
 * two copies of the package recognise each other's results, and it does not survive a spread or `structuredClone`: what
 * was changed by hand is not ours any more.
 */
export const TOOL_RESPONSE_BRAND: unique symbol = Symbol.for('interlock:tool-response') as never; // `unique symbol` accepts no registered symbol without a cast.

const MARK: PropertyDescriptor = Object.freeze({ value: true });

/** Marks `result` as built by this package and hands it back. */
export function brand<T extends object>(result: T): T {
  return Object.defineProperty(result, TOOL_RESPONSE_BRAND, MARK);
}

/**
 * Whether `value` was built by a helper of this package (and not copied since). Never throws.
 *
 * @example
 * ```ts
 * const answer = await handler(args);
 * return isToolResponse(answer) ? answer : success(answer);
 * ```
 */
export function isToolResponse(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, TOOL_RESPONSE_BRAND) === true;
  } catch {
    // A revoked proxy or a hostile getter: certainly not ours.
    return false;
  }
}
