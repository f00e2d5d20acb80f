/** The last resort of the search: any piece of text that occurs anywhere in a tool finds it. */
import type { ListedTool, ToolHit } from '../answers.js';
import { splitWords } from './words.js';

const MAX_PIECES = 24;

/** Tools whose server, name, description or schema text holds any word of the query, stop words and parts of words included. */
export function searchBySubstring(tools: readonly ListedTool[], query: string): ToolHit[] {
  const pieces = piecesOf(query);
  if (pieces.length === 0) return [];
  const hits: ToolHit[] = [];
  for (const listed of tools) {
    const text = textOf(listed);
    // Longer pieces say more; a piece in the name says most.
    const name = listed.tool.name.toLowerCase();
    let score = 0;
    for (const piece of pieces) {
      if (text.includes(piece)) score += piece.length * (name.includes(piece) ? 2 : 1);
    }
    if (score > 0) hits.push({ ...listed, score });
  }
  return hits.sort((a, b) => b.score - a.score);
}

function piecesOf(query: string): string[] {
  const text = query.slice(0, 1_500);
  const raw = text.toLowerCase().split(/\s+/);
  return [...new Set([...raw, ...splitWords(text)])].filter((piece) => piece !== '').slice(0, MAX_PIECES);
}

function textOf({ serverName, tool }: ListedTool): string {
  return `${serverName}\n${tool.name}\n${tool.title ?? ''}\n${tool.description ?? ''}\n${schemaText(tool.inputSchema)}`.toLowerCase();
}

function schemaText(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return '';
  try {
    return JSON.stringify(schema);
  } catch {
    // A cyclic schema comes only from code; its text is simply not searched.
    return '';
  }
}
