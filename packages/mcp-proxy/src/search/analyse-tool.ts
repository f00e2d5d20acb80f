/** A tool as words in fields, ready to be counted. */
import { isRecord } from '../request.js';
import type { IMcpToolInfo } from '../types.js';
import { stem } from './stem.js';
import { splitWords } from './words.js';

/** The fields in the order in which their weights are given. */
export const FIELDS = ['server', 'name', 'summary', 'description', 'parameterNames', 'parameterDescriptions'] as const;

export type FieldWords = Readonly<Record<(typeof FIELDS)[number], readonly string[]>>;

/** What is read of a description; what comes later is examples and error codes. */
const MAX_DESCRIPTION_CHARS = 6_000;
const MAX_PARAMETER_CHARS = 6_000;
const MAX_SUMMARY_CHARS = 240;
const MAX_SCHEMA_NODES = 400;
const MAX_ENUM_VALUES = 20;
/** The first sentence, if it is long enough to be one; or the first paragraph. */
const SUMMARY = /^[\s\S]{20,}?(?:[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=\s*(?:Args|Parameters|Returns|Examples?)\b))/;

export function analyseTool(serverName: string, tool: IMcpToolInfo, stopWords: ReadonlySet<string>): FieldWords {
  const text = `${tool.title ?? ''}\n${tool.description ?? ''}`.trim().slice(0, MAX_DESCRIPTION_CHARS);
  const cut = Math.min(
    SUMMARY.exec(text.slice(0, MAX_SUMMARY_CHARS * 2))?.[0].length ?? text.length,
    MAX_SUMMARY_CHARS,
  );
  const parameters = parameterText(tool.inputSchema);
  const words = (source: string): string[] =>
    splitWords(source)
      .filter((word) => !stopWords.has(word))
      .map(cachedStem);
  return {
    server: words(serverName),
    name: words(tool.name),
    summary: words(text.slice(0, cut)),
    description: words(text.slice(cut)),
    parameterNames: words(parameters.names),
    parameterDescriptions: words(parameters.descriptions),
  };
}

interface ParameterText {
  readonly names: string;
  readonly descriptions: string;
}

/** Names, descriptions and allowed values at every level, without following references. */
function parameterText(schema: unknown): ParameterText {
  const names: string[] = [];
  const descriptions: string[] = [];
  const open: unknown[] = [schema];
  for (let seen = 0; open.length > 0 && seen < MAX_SCHEMA_NODES; seen++) {
    const node = open.shift();
    if (!isRecord(node)) continue;
    if (isRecord(node.properties)) {
      for (const [name, property] of Object.entries(node.properties)) {
        names.push(name);
        if (isRecord(property) && typeof property.description === 'string') descriptions.push(property.description);
        open.push(property);
      }
    }
    if (Array.isArray(node.enum)) {
      descriptions.push(...node.enum.filter((value) => typeof value === 'string').slice(0, MAX_ENUM_VALUES));
    }
    for (const inner of [node.items, node.anyOf, node.oneOf, node.allOf].flat()) open.push(inner);
  }
  return { names: clipped(names), descriptions: clipped(descriptions) };
}

function clipped(parts: readonly string[]): string {
  return parts.join(' ').slice(0, MAX_PARAMETER_CHARS);
}

const STEM_CACHE_SIZE = 20_000;
const stems = new Map<string, string>();

/** Stems are asked for again and again with every list; the cache is dropped when it is full. */
export function cachedStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= STEM_CACHE_SIZE) stems.clear();
  const stemmed = stem(word);
  stems.set(word, stemmed);
  return stemmed;
}
