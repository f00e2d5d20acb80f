/** A call of an action that does not exist. */

import type { Meta, ToolResult } from '../types.js';
import { asText } from './as-text.js';
import { toolError } from './error.js';
import { clip } from './error-envelope.js';
import { nearestOf } from './nearest.js';

/** Actions that the error lists; more would drown the one that is meant. */
const LISTED = 30;

/**
 * The error for an action that is not one of `available`: it suggests the nearest valid one, if any is near, and lists
 * what there is, the nearest first.
 *
 * @example
 * ```ts
 * unknownAction('list_project', ['projects.list', 'projects.get']);
 * // … <recovery>Did you mean "projects.list"? …
 * ```
 */
export function unknownAction(action: string, available: readonly string[]): ToolResult & { _meta: Meta } {
  const given = asText(action);
  const names = readNames(available);
  const meant = nearestOf(given, names);
  const others = names.filter((name) => name !== meant);
  const listed = (meant === undefined ? others : [meant, ...others]).slice(0, LISTED);
  return toolError('UNKNOWN_ACTION', {
    message: `There is no action "${clip(given, 100)}".`,
    suggestion: suggestionFor(meant, names.length),
    availableActions: listed,
    ...(names.length > listed.length ? { details: { actions_in_all: String(names.length) } } : {}),
  });
}

function readNames(available: unknown): string[] {
  try {
    return Array.isArray(available) ? Array.from(available, asText) : [];
  } catch {
    // A list that cannot be read names nothing.
    return [];
  }
}

function suggestionFor(meant: string | undefined, count: number): string {
  if (meant !== undefined)
    return `Did you mean "${meant}"? Call it by exactly that name, or use another of the available actions.`;
  return count === 0
    ? 'No action is available now. Tell the user.'
    : 'Use one of the available actions, by exactly its name.';
}
