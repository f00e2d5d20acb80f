/** Pins: tool definitions are trusted as first seen; one that changed is held back until somebody approves it. */
import { McpProxyError } from '../errors.js';
import { isRecord } from '../request.js';
import { clippedLine } from '../text/clean.js';
import type { IMcpToolInfo } from '../types.js';
import { hashDefinition, pinnedDefinition } from './canonical.js';
import { definitionDiff } from './diff.js';

/** What is remembered of one tool. The definition is kept so that a change can be shown. */
export interface ToolPin {
  /** SHA-256 in hex over the canonical JSON of the definition. */
  readonly hash: string;
  readonly definition: IMcpToolInfo;
}

export interface ServerPins {
  readonly tools: Readonly<Record<string, ToolPin>>;
  readonly instructions?: string;
}

/**
 * Keeps the pins of each server. `load` resolves to undefined only when the server was never pinned; when the stored pins
 * cannot be read it must reject: the proxy then shows and calls nothing of that server (it fails closed).
 */
export interface IMcpToolPinStore {
  load(serverName: string): Promise<ServerPins | undefined>;
  save(serverName: string, pins: ServerPins): Promise<void>;
}

/** A tool that is not offered because its definition is not the trusted one. */
export interface HeldTool {
  readonly toolName: string;
  readonly reason: 'changed' | 'new';
  /** What changed, readable, one line a change (`description: - old`, `description: + new`). */
  readonly diff: readonly string[];
}

/** A tool list that has been held against the pins. */
export interface PinCheck {
  readonly accepted: readonly IMcpToolInfo[];
  readonly held: readonly HeldTool[];
  /** The upstream's instructions, when they are the trusted ones. */
  readonly instructions: string | undefined;
  /** How the instructions changed; undefined when they did not. */
  readonly instructionsDiff: readonly string[] | undefined;
  /** What to save: the pins with everything in them that is trusted now. Undefined when nothing is new. */
  readonly updated: ServerPins | undefined;
}

export interface ToolListing {
  readonly tools: readonly IMcpToolInfo[];
  readonly instructions: string | undefined;
}

export interface PinCheckOptions {
  /** A tool that a pinned server lists for the first time. Default `'trust'`. */
  readonly newTools?: 'trust' | 'hold';
}

/**
 * Trust on first use, tool by tool: an unknown one is pinned as it is, a changed one is held, the others pass. A tool that is
 * no longer listed keeps its pin, so that it cannot come back changed.
 */
export async function checkPins(
  pins: ServerPins | undefined,
  listing: ToolListing,
  options: PinCheckOptions = {},
): Promise<PinCheck> {
  const accepted: IMcpToolInfo[] = [];
  const held: HeldTool[] = [];
  const fresh = new Map<string, ToolPin>();
  for (const tool of listing.tools) {
    const hash = await hashDefinition(tool);
    const pin = pins && Object.hasOwn(pins.tools, tool.name) ? pins.tools[tool.name] : undefined;
    if (pin === undefined && pins !== undefined && options.newTools === 'hold') {
      held.push({ toolName: tool.name, reason: 'new', diff: definitionDiff({ name: tool.name }, tool) });
    } else if (pin !== undefined && pin.hash !== hash) {
      held.push({ toolName: tool.name, reason: 'changed', diff: definitionDiff(pin.definition, tool) });
    } else {
      accepted.push(tool);
      if (pin === undefined) fresh.set(tool.name, { hash, definition: pinnedDefinition(tool) });
    }
  }
  const instructions = checkInstructions(pins, listing.instructions);
  const changed = fresh.size > 0 || pins === undefined;
  const updated = changed
    ? withPins(pins, fresh, pins === undefined ? listing.instructions : pins.instructions)
    : undefined;
  return { accepted, held, ...instructions, updated };
}

/**
 * The pins after somebody has approved the listed definitions of `toolNames` (default: all of them, and the instructions).
 */
export async function approveDefinitions(
  pins: ServerPins | undefined,
  listing: ToolListing,
  toolNames?: readonly string[],
): Promise<ServerPins> {
  const approved = new Map<string, ToolPin>();
  for (const tool of listing.tools) {
    if (toolNames !== undefined && !toolNames.includes(tool.name)) continue;
    approved.set(tool.name, { hash: await hashDefinition(tool), definition: pinnedDefinition(tool) });
  }
  const all = toolNames === undefined || pins === undefined;
  return withPins(pins, approved, all ? listing.instructions : pins.instructions);
}

/**
 * Pins as they were read from a store, or a reason why they are none: what cannot be understood is never treated as absent.
 *
 * @throws McpProxyError `PINS_UNREADABLE`
 */
export function readPins(stored: unknown): ServerPins | undefined {
  if (stored === undefined) return undefined;
  if (!isRecord(stored) || !isRecord(stored.tools)) throw unreadable('"tools" is no object');
  const { instructions } = stored;
  if (instructions !== undefined && typeof instructions !== 'string') throw unreadable('"instructions" is no text');
  const tools = new Map<string, ToolPin>();
  for (const [name, pin] of Object.entries(stored.tools)) {
    if (!isRecord(pin) || typeof pin.hash !== 'string' || !isRecord(pin.definition)) {
      throw unreadable(`the pin of "${clippedLine(name, 80)}" has no hash or no definition`);
    }
    tools.set(name, { hash: pin.hash, definition: { ...pin.definition, name } });
  }
  return withPins(undefined, tools, instructions);
}

function unreadable(what: string): McpProxyError {
  return new McpProxyError(
    'PINS_UNREADABLE',
    `The stored pins cannot be understood (${what}). Restore the file, or delete it to trust the server anew.`,
  );
}

function checkInstructions(
  pins: ServerPins | undefined,
  listed: string | undefined,
): Pick<PinCheck, 'instructions' | 'instructionsDiff'> {
  // Instructions that a pinned server did not have before are a change like any other.
  if (pins === undefined || pins.instructions === listed) return { instructions: listed, instructionsDiff: undefined };
  return {
    instructions: undefined,
    instructionsDiff: definitionDiff(
      { name: 'instructions', ...(pins.instructions !== undefined && { description: pins.instructions }) },
      { name: 'instructions', ...(listed !== undefined && { description: listed }) },
    ),
  };
}

function withPins(
  pins: ServerPins | undefined,
  added: ReadonlyMap<string, ToolPin>,
  instructions: string | undefined,
): ServerPins {
  // fromEntries defines own properties, whatever the names are (`__proto__` too).
  const tools = Object.fromEntries([...Object.entries(pins?.tools ?? {}), ...added]);
  return { tools, ...(instructions !== undefined && { instructions }) };
}
