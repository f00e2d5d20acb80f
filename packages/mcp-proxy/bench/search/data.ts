/** Reads a tools file and a queries file, and says what is wrong with one that cannot be used. */
import { readFileSync } from 'node:fs';
import type { ListedTool } from '../../src/index.js';

export interface Query {
  readonly query: string;
  /** Names of the tools that are right. */
  readonly gold: readonly string[];
}

export interface QuerySet {
  /** Several intents: every tool counts (recall). */
  readonly tasks: readonly Query[];
  /** One intent: any of the tools counts (hit). */
  readonly steps: readonly Query[];
}

/** An array of `{ server, name, description, inputSchema }`. */
export function readTools(path: string): ListedTool[] {
  const entries: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(entries)) throw new Error(`${path}: expected an array of tools.`);
  return entries.map((entry, index) => {
    if (typeof entry?.name !== 'string') throw new Error(`${path}: tool ${index} has no name.`);
    const { server, ...tool } = entry;
    return { serverName: String(server ?? 'server'), tool };
  });
}

/** `{ tasks: [{ query, gold }], steps: [{ query, gold }] }`; either may be missing. */
export function readQueries(path: string): QuerySet {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const list = (name: 'tasks' | 'steps'): Query[] =>
    (file[name] ?? []).map((entry: { query?: unknown; gold?: unknown }, index: number) => {
      if (typeof entry.query !== 'string') throw new Error(`${path}: ${name}[${index}] has no query.`);
      return { query: entry.query, gold: [entry.gold].flat().map(String) };
    });
  return { tasks: list('tasks'), steps: list('steps') };
}
