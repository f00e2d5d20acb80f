/** The valid name that a wrong one was most likely meant to be. */

import { check } from '../check.js';

/**
 * The candidate nearest to `given`: the fewest typing mistakes (optimal string alignment distance), at most four
 * in ten letters, whatever divides the words and in whatever order they are (`list_project` for `projects.list`).
 */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  check(typeof given === 'string', 'nearest: given', 'a string');
  check(
    Array.isArray(candidates) && candidates.every((name) => typeof name === 'string'),
    'nearest: candidates',
    'a list of strings',
  );
  return nearestOf(given, candidates);
}

/** {@link nearest} of texts that are known to be texts. */
export function nearestOf(given: string, candidates: readonly string[]): string | undefined {
  const wanted = normalise(given);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of candidates) {
    const distance = distanceOf(wanted, normalise(name));
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  const most = Math.max(1, Math.floor(wanted.plain.length * 0.4));
  return best !== undefined && wanted.plain !== '' && best.distance <= most ? best.name : undefined;
}

interface Name {
  readonly plain: string;
  readonly words: string;
}

/** Longer names are compared by their beginnings: the work grows with the square of the length. */
const COMPARED = 64;

function normalise(name: string): Name {
  const words = name
    .slice(0, COMPARED)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return { plain: words.join(''), words: words.toSorted().join(' ') };
}

function distanceOf(a: Name, b: Name): number {
  if (a.plain === b.plain) return 0;
  return Math.min(alignment(a.plain, b.plain), 0.5 + alignment(a.words, b.words));
}

/** Insertions, deletions, replacements, and swaps of neighbours. */
function alignment(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
