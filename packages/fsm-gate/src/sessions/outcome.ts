/** Reads from a tool's result whether its effect happened. */

/**
 * The default `outcomeOf`: an MCP result with `isError` and one that asks for input (`resultType: 'input_required'`) leave the
 * state as it was; everything else moves it.
 */
export function outcomeOfResult(result: unknown): 'commit' | 'rollback' {
  if (typeof result !== 'object' || result === null) return 'commit';
  const { isError, resultType } = result as { isError?: unknown; resultType?: unknown };
  return isError === true || resultType === 'input_required' ? 'rollback' : 'commit';
}
