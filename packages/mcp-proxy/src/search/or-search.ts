/** The plain search of the contract: a tool matches when its name or description contains any of the words. */
import type { ListedTool, ToolHit } from '../answers.js';

/** Every tool that has any of the space-separated words in its name or description, in catalogue order, all scored 1. */
export function searchByOr(tools: readonly ListedTool[], query: string): ToolHit[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return tools
    .filter(({ tool }) => {
      const text = `${tool.name} ${tool.description ?? ''}`.toLowerCase();
      return words.some((word) => text.includes(word));
    })
    .map((listed) => ({ ...listed, score: 1 }));
}
