/** What is known of the tools of one server, and which of it may be shown. */
import type { McpServerMetadata } from '../options.js';
import { isRecord } from '../request.js';
import { type AdmitLimits, admitTools } from '../security/admit.js';
import { checkPins, type HeldTool, readPins, type ServerPins } from '../security/pins.js';
import { reasonOf } from '../text/clean.js';
import type { IMcpToolInfo, IMcpToolProblem } from '../types.js';
import type { Settings } from './settings.js';

/** A tool list after checks and pins, before the allow-list (which may change without a new list). */
export interface Listing {
  readonly source: 'live' | 'stored';
  /** Everything that was admitted, held back or not. */
  readonly listed: readonly IMcpToolInfo[];
  /** What may be offered. */
  readonly accepted: readonly IMcpToolInfo[];
  readonly dropped: readonly IMcpToolProblem[];
  readonly held: readonly HeldTool[];
  /** The upstream's instructions as it gave them, and those that are trusted. */
  readonly givenInstructions: string | undefined;
  readonly instructions: string | undefined;
  readonly instructionsDiff: readonly string[] | undefined;
  /** Why everything is held back. */
  readonly pinsUnreadable: string | undefined;
  readonly listedAt: number;
  readonly ttlMs: number | undefined;
}

export interface RawListing {
  readonly source: 'live' | 'stored';
  readonly tools: unknown;
  readonly problems: readonly IMcpToolProblem[];
  readonly instructions: string | undefined;
  readonly listedAt: number;
  readonly ttlMs: number | undefined;
}

/** Checks each tool and holds the list against the pins; unreadable pins hold everything back. */
export async function makeListing(
  serverName: string,
  raw: RawListing,
  settings: Settings,
  limits?: AdmitLimits,
): Promise<Listing> {
  const { tools, dropped } = admitTools(raw.tools, limits);
  const base = {
    source: raw.source,
    listed: tools,
    dropped: [...raw.problems, ...dropped],
    givenInstructions: raw.instructions,
    listedAt: raw.listedAt,
    ttlMs: raw.ttlMs,
  };
  for (const { toolName, reason } of base.dropped)
    settings.emit({ type: 'tool_dropped', serverName, toolName, reason });
  try {
    const pinned = await heldAgainstPins(serverName, raw, tools, settings);
    for (const { toolName } of pinned.held) settings.emit({ type: 'tool_held', serverName, toolName });
    return { ...base, ...pinned, pinsUnreadable: undefined };
  } catch (error) {
    const pinsUnreadable = reasonOf(error);
    settings.debugLog(`pins: nothing of "${serverName}" is offered: ${pinsUnreadable}`);
    return {
      ...base,
      accepted: [],
      held: [],
      instructions: undefined,
      instructionsDiff: undefined,
      pinsUnreadable,
    };
  }
}

type Pinned = Pick<Listing, 'accepted' | 'held' | 'instructions' | 'instructionsDiff'>;

async function heldAgainstPins(
  serverName: string,
  raw: RawListing,
  tools: readonly IMcpToolInfo[],
  settings: Settings,
): Promise<Pinned> {
  const { pins: store, newTools } = settings;
  const instructions = raw.instructions;
  if (store === undefined) return { accepted: tools, held: [], instructions, instructionsDiff: undefined };
  const pins: ServerPins | undefined = readPins(await store.load(serverName));
  const { updated, ...checked } = await checkPins(pins, { tools, instructions }, { newTools });
  // Only what the server itself lists is trusted on first use; a stored list is somebody's file.
  if (updated !== undefined && raw.source === 'live') await store.save(serverName, updated);
  return checked;
}

/** What a metadata store gave, if it is what it should be. */
export function readMetadata(stored: unknown): RawListing | undefined {
  if (!isRecord(stored) || !Array.isArray(stored.tools) || typeof stored.listedAt !== 'number') return undefined;
  return {
    source: 'stored',
    tools: stored.tools,
    problems: [],
    instructions: typeof stored.instructions === 'string' ? stored.instructions : undefined,
    listedAt: stored.listedAt,
    ttlMs: validTtl(stored.ttlMs),
  };
}

export function toMetadata(listing: Listing): McpServerMetadata {
  return {
    tools: listing.listed,
    listedAt: listing.listedAt,
    ...(listing.givenInstructions !== undefined && { instructions: listing.givenInstructions }),
    ...(listing.ttlMs !== undefined && { ttlMs: listing.ttlMs }),
  };
}

/** SDKs fill in `ttlMs: 0` where the upstream said nothing, so 0 says nothing. */
export function validTtl(ttlMs: unknown): number | undefined {
  return typeof ttlMs === 'number' && Number.isFinite(ttlMs) && ttlMs > 0 ? ttlMs : undefined;
}

/** Whether a list may still be used without asking the server. */
export function isFresh(listing: Listing, now: number, settings: Settings): boolean {
  if (listing.listedAt > now) return false;
  const age = now - listing.listedAt;
  if (listing.ttlMs !== undefined) return age < listing.ttlMs;
  return listing.source === 'live' || age < settings.metadataMaxAgeMs;
}
