/** A small part of large data that has its structure: what is true of the sample's notation is likely true of the whole. */
import { type Survey, USUAL_FIELDS } from '../json/json.js';

/** Characters of JSON that a sample has at most, about. */
const SAMPLE_SIZE = 2000;

/** Members of a list that are kept even if that makes the sample larger than it should be. */
const NARROWEST = 2;

const LONGEST_TEXT = 400;

/**
 * JSON data of at most about 2,000 characters: from every list and every large record some members, spread evenly from
 * the first to the last, and those rows whose number of fields is not that of the first. Long texts are cut. The same
 * data gives the same sample.
 *
 * @param known keys of dictionaries that were listed already
 */
export function sampleOf(data: unknown, known: Survey['keys']): Sample {
  const keysOf = (record: object) => known.get(record) ?? Object.keys(record);
  for (let width = 32; ; width = width / 4) {
    const most = width > NARROWEST ? SAMPLE_SIZE : Number.POSITIVE_INFINITY;
    const budget: Budget = { most, size: 0, hasGetters: false, keysOf };
    const sample = thin(data, width, budget);
    if (budget.size <= most) return { data: sample, size: budget.size, hasGetters: budget.hasGetters };
  }
}

export interface Sample {
  readonly data: unknown;
  /** Least length as compact JSON, as `surveyJson` measures it. */
  readonly size: number;
  /** Whether any value in it came from a getter, which may say something else next time. */
  readonly hasGetters: boolean;
}

interface Budget {
  /** Characters that may be taken; with more the sample is given up, and the rest is not looked at. */
  readonly most: number;
  size: number;
  hasGetters: boolean;
  readonly keysOf: (record: object) => readonly string[];
}

function thin(value: unknown, width: number, budget: Budget): unknown {
  if (typeof value === 'string') {
    const text = value.length > LONGEST_TEXT ? cutText(value) : value;
    budget.size += text.length + 3;
    return text;
  }
  if (typeof value !== 'object' || value === null) {
    budget.size += typeof value === 'number' ? 2 : 5;
    return value;
  }
  budget.size += 2;
  if (budget.size > budget.most) return value;
  // Lists within lists: each level fewer, or the sample is as large as a power of the width.
  const inner = Math.max(1, Math.floor(width / 2));
  if (Array.isArray(value)) return pick(value, width).map((index) => thin(value[index], inner, budget));
  const keys = budget.keysOf(value);
  const most = Math.max(width, USUAL_FIELDS);
  const kept = keys.length > most ? spread(keys.length, width).map((index) => keys[index]!) : keys;
  return Object.fromEntries(
    kept.map((key) => {
      budget.size += key.length + 3;
      if (Object.getOwnPropertyDescriptor(value, key)?.get) budget.hasGetters = true;
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
