/** Shortening data at its own joints: whole list items go first, then the ends of long texts, then fields. */

import { clip } from '../errors/error-envelope.js';
import { joinPath } from '../json/stringify.js';
import { largest, type Omission } from './cut-text.js';

export interface CutValue {
  readonly value: unknown;
  readonly omissions: readonly Omission[];
}

/**
 * As much of `value` as `fits` takes. The largest list loses items from its end, so that the rest can be asked for by
 * offset; if that is not enough the next largest does, then all long texts are shortened, then fields go.
 */
export function cutValue(value: unknown, fits: (cut: CutValue) => boolean): CutValue {
  let cut: CutValue = { value, omissions: [] };
  for (const list of listsOf(value)) {
    const from = cut;
    const at = (count: number) => cutList(from, list, count);
    const kept = largest(list.length - 1, (count) => fits(at(count)));
    // An item that fits nowhere is better shown in part than not at all: no later page could show it either.
    const one = kept === 0 ? withShortTexts(at(1), fits) : undefined;
    if (one) return one;
    cut = at(kept);
    if (fits(cut)) return cut;
  }
  for (const { most, cutTo } of LAST_RESORTS) {
    const from = cut;
    const at = (count: number) => cutTo(from, count);
    cut = at(largest(most(from.value), (count) => fits(at(count))));
    if (fits(cut)) return cut;
  }
  return cut;
}

/** Below this a text says nothing any more. */
const SHORTEST_TEXT = 40;

function withShortTexts(from: CutValue, fits: (cut: CutValue) => boolean): CutValue | undefined {
  if (!fits(shortenTexts(from, SHORTEST_TEXT))) return undefined;
  return shortenTexts(
    from,
    Math.max(
      SHORTEST_TEXT,
      largest(LONGEST_SHORTENED, (length) => fits(shortenTexts(from, length))),
    ),
  );
}

/** A text that keeps more than this has not been shortened for lack of room. */
const LONGEST_SHORTENED = 2000;

interface LastResort {
  /** The largest count that is worth a try. */
  readonly most: (value: unknown) => number;
  readonly cutTo: (from: CutValue, count: number) => CutValue;
}

const LAST_RESORTS: readonly LastResort[] = [
  { most: () => LONGEST_SHORTENED, cutTo: shortenTexts },
  { most: (value) => Object.keys(Object(value)).length, cutTo: dropFields },
];

interface List {
  readonly keys: readonly string[];
  readonly path: string;
  readonly length: number;
  readonly size: number;
}

const MOST_LISTS = 8;

/** Lists that can lose items, the largest first; a list within a list goes with its item. */
function listsOf(root: unknown): List[] {
  const found: List[] = [];
  const visit = (value: unknown, keys: readonly string[], path: string): void => {
    if (Array.isArray(value)) {
      if (value.length > 0) found.push({ keys, path, length: value.length, size: JSON.stringify(value).length });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, [...keys, key], joinPath(path, key, false));
    }
  };
  visit(root, [], '$');
  return found.sort((a, b) => b.size - a.size).slice(0, MOST_LISTS);
}

function cutList(from: CutValue, list: List, count: number): CutValue {
  if (count >= list.length) return from;
  return {
    value: replaceAt(from.value, list.keys, (items) => (items as unknown[]).slice(0, count)), // `listsOf` found a list there.
    omissions: [...from.omissions, { path: list.path, unit: 'items', shown: count, total: list.length }],
  };
}

function replaceAt(value: unknown, keys: readonly string[], change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return change(value);
  const entries = Object.entries(value as object); // The path was read off this very data.
  return Object.fromEntries(
    entries.map(([name, child]) => [name, name === key ? replaceAt(child, rest, change) : child]),
  );
}

function shortenTexts(from: CutValue, length: number): CutValue {
  let shortened = 0;
  let texts = 0;
  const shorten = (value: unknown): unknown => {
    if (typeof value === 'string') {
      texts++;
      if (value.length <= length) return value;
      shortened++;
      return clip(value, length);
    }
    if (Array.isArray(value)) return value.map(shorten);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shorten(child)]));
  };
  const value = shorten(from.value);
  const omission: Omission = { path: '$', unit: 'texts', shown: texts - shortened, total: texts };
  return { value, omissions: shortened === 0 ? from.omissions : [...from.omissions, omission] };
}

function dropFields(from: CutValue, count: number): CutValue {
  if (typeof from.value !== 'object' || from.value === null || Array.isArray(from.value)) return from;
  const entries = Object.entries(from.value);
  if (count >= entries.length) return from;
  return {
    value: Object.fromEntries(entries.slice(0, count)),
    omissions: [...from.omissions, { path: '$', unit: 'fields', shown: count, total: entries.length }],
  };
}
