/** Bounds a text answer, and keeps what was cut where it can be read on: in a spill of the host's, or here by cursor. */
import { positive } from '../connection/settings.js';
import type { OutputOptions } from '../options.js';
import { reasonOf } from '../text/clean.js';
import { byteLength, cutPage, type PageBounds } from '../text/pages.js';
import { sizeText } from './json-text.js';

const DEFAULT_MAX_BYTES = 51_200;
const DEFAULT_MAX_LINES = 2_000;
const DEFAULT_MAX_PENDING_BYTES = 16 * 1024 * 1024;
/** What the sentence about the rest may take of the page. */
const FOOTER_BYTES = 400;

export interface OutputHooks {
  readonly randomUUID: () => string;
  readonly debugLog: (line: string) => void;
}

/** What a text is the answer to; told to the spill hook. */
export interface OutputSource {
  readonly serverName?: string;
  readonly toolName?: string;
}

interface PendingText {
  readonly text: string;
  readonly bytes: number;
}

/** The bounded side of one proxy: first pages go out, rests wait for their cursor until newer ones push them out. */
export class BoundedOutput {
  readonly #bounds: PageBounds;
  readonly #maxPendingBytes: number;
  readonly #spill: OutputOptions['spill'];
  readonly #hooks: OutputHooks;
  readonly #pending = new Map<string, PendingText>();
  #pendingBytes = 0;

  constructor(options: OutputOptions, hooks: OutputHooks) {
    const maxBytes = positive(options.maxBytes, DEFAULT_MAX_BYTES, 'output.maxBytes');
    const maxLines = positive(options.maxLines, DEFAULT_MAX_LINES, 'output.maxLines');
    this.#bounds = { maxBytes: Math.max(1, maxBytes - FOOTER_BYTES), maxLines };
    this.#maxPendingBytes = positive(options.maxPendingBytes, DEFAULT_MAX_PENDING_BYTES, 'output.maxPendingBytes');
    this.#spill = options.spill;
    this.#hooks = hooks;
  }

  /** The text, or its first page with a last line that says how to read the rest. */
  async bound(text: string, source: OutputSource = {}): Promise<string> {
    const page = cutPage(text, 0, this.#bounds);
    if (page.kind === 'whole') return text;
    const where = (await this.#spilled(text, source)) ?? this.#keep(text, page.end);
    return withFooter(text, 0, page.end, where);
  }

  /** The page behind a cursor; undefined when there is none (never was, or its text was pushed out by newer ones). */
  read(cursor: string): string | undefined {
    const [handle = '', offset = ''] = cursor.split('@');
    const pending = this.#pending.get(handle);
    const start = /^\d{1,15}$/.test(offset) ? Number(offset) : Number.NaN;
    if (pending === undefined || !(start < pending.text.length)) return undefined;
    // What is being read is the youngest, and a page whose answer was lost can be asked for again.
    this.#pending.delete(handle);
    this.#pending.set(handle, pending);
    const page = cutPage(pending.text, start, this.#bounds);
    if (page.kind === 'whole') return pending.text.slice(start);
    return withFooter(pending.text, start, page.end, readOn(handle, page.end));
  }

  clear(): void {
    this.#pending.clear();
    this.#pendingBytes = 0;
  }

  async #spilled(text: string, source: OutputSource): Promise<string | undefined> {
    if (this.#spill === undefined) return undefined;
    try {
      return await this.#spill({ text, serverName: source.serverName, toolName: source.toolName });
    } catch (error) {
      this.#hooks.debugLog(`output: the spill hook failed, a cursor is offered instead: ${reasonOf(error)}`);
      return undefined;
    }
  }

  #keep(text: string, end: number): string {
    const bytes = byteLength(text);
    if (bytes > this.#maxPendingBytes) {
      return 'The rest is too large to keep: ask the tool for less (a filter, a page, a range).';
    }
    const handle = this.#hooks.randomUUID();
    this.#pending.set(handle, { text, bytes });
    this.#pendingBytes += bytes;
    for (const [oldest, entry] of this.#pending) {
      if (this.#pendingBytes <= this.#maxPendingBytes) break;
      this.#pending.delete(oldest);
      this.#pendingBytes -= entry.bytes;
    }
    return readOn(handle, end);
  }
}

function readOn(handle: string, offset: number): string {
  return `Read on: mcp({"cursor":"${handle}@${offset}"})`;
}

function withFooter(text: string, start: number, end: number, where: string): string {
  const shown = `${sizeText(byteLength(text.slice(0, end)))} of ${sizeText(byteLength(text))}`;
  return `${text.slice(start, end).replace(/\n$/, '')}\n[Cut: ${start === 0 ? 'the first' : 'up to'} ${shown}. ${where}]`;
}
