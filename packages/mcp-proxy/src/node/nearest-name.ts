/** Finds the name that somebody probably meant. */

/** Longer ones are no typos of anything. */
const MAX_NAME_LENGTH = 40;

/**
 * The known name that takes the fewest changes of one character (inserted, left out, replaced, or swapped with its neighbour: optimal
 * string alignment); undefined when none is near. Near is a third of its letters, or at most `maxChanges`.
 *
 * @example nearestName('comand', ['command', 'args']) // 'command'
 */
export function nearestName(
  name: string,
  known: readonly string[],
  maxChanges: number = MAX_NAME_LENGTH,
): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const lower = name.toLowerCase().replaceAll(/[-_]/g, '');
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceOf(lower, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= maxChanges && distance * 3 <= candidate.length)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
