/** A small part of large data that has its structure: what is true of the sample's notation is likely true of the whole. */

/** Characters of JSON that a sample has at most, about. */
const SAMPLE_SIZE = 2000;

/** Members of a list that are kept even if that makes the sample larger than it should be. */
const NARROWEST = 2;

const LONGEST_TEXT = 400;

/** A record with more fields than this is a dictionary, whose entries are as alike as rows. */
const USUAL_FIELDS = 24;

/**
 * JSON data of at most about 2,000 characters: from every list and every large record some members, spread evenly from
 * the first to the last, and those rows whose number of fields is not that of the first. Long texts are cut. The same
 * data gives the same sample.
 */
export function sampleOf(data: unknown): unknown {
  // Listing the keys of a dictionary takes longer than all the rest: once will do.
  const keysOf = remembered((record: object) => Object.keys(record));
  for (let width = 32; ; width = width / 4) {
    const budget = { left: width > NARROWEST ? SAMPLE_SIZE : Number.POSITIVE_INFINITY, keysOf };
    const sample = thin(data, width, budget);
    if (budget.left > 0) return sample;
  }
}

function remembered<T extends object, R>(compute: (key: T) => R): (key: T) => R {
  const known = new Map<T, R>();
  return (key) => {
    const found = known.get(key) ?? compute(key);
    known.set(key, found);
    return found;
  };
}

interface Budget {
  /** Characters that may still be taken; below 0 the sample is given up, and the rest is not looked at. */
  left: number;
  readonly keysOf: (record: object) => readonly string[];
}

function thin(value: unknown, width: number, budget: Budget): unknown {
  budget.left -= typeof value === 'string' ? Math.min(value.length, LONGEST_TEXT) : 6;
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? cutText(value) : value;
  if (typeof value !== 'object' || value === null || budget.left < 0) return value;
  // Lists within lists: each level fewer, or the sample is as large as a power of the width.
  const inner = Math.max(1, Math.floor(width / 2));
  if (Array.isArray(value)) return pick(value, width).map((index) => thin(value[index], inner, budget));
  const keys = budget.keysOf(value);
  const most = Math.max(width, USUAL_FIELDS);
  const kept = keys.length > most ? spread(keys.length, width).map((index) => keys[index]!) : keys;
  return Object.fromEntries(
    kept.map((key) => {
      budget.left -= key.length + 4;
      return [key, thin((value as Record<string, unknown>)[key], inner, budget)];
    }),
  );
}

/** A string must not end in half a surrogate pair: that would be refused where the whole is not. */
function cutText(text: string): string {
  const last = text.charCodeAt(LONGEST_TEXT - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? LONGEST_TEXT - 1 : LONGEST_TEXT);
}

const ODD_ROWS = 4;

function pick(list: readonly unknown[], width: number): number[] {
  if (list.length <= width) return list.map((_, index) => index);
  const picked = new Set(spread(list.length, width));
  const usual = fieldCount(list[0]);
  if (usual === 0) return [...picked];
  let odd = 0;
  for (let index = 1; index < list.length && odd < ODD_ROWS; index++) {
    if (fieldCount(list[index]) === usual) continue;
    picked.add(index);
    odd++;
  }
  return [...picked].sort((a, b) => a - b);
}

/** 0 for what is no record. */
function fieldCount(row: unknown): number {
  let count = 0;
  if (typeof row !== 'object' || Array.isArray(row)) return 0;
  for (const _key in row) count++;
  return count;
}

/** `count` indexes from 0 to `length - 1`, both included. */
function spread(length: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.round((i * (length - 1)) / Math.max(1, count - 1)));
}
