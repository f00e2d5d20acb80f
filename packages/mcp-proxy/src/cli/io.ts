/** What a command may touch of the outside, and how it writes to it. */
import { cleanText } from '../text/clean.js';

/** Tests put their own in its place. */
export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly openUrl: (url: URL) => void | Promise<void>;
}

/**
 * Writes to a stream. What upstreams say may hold sequences that a terminal obeys (it can be made to rename its window, fill the
 * clipboard or hide lines), so on a terminal they are taken out; a file or a pipe gets every byte.
 */
export function writerTo(stream: { readonly isTTY?: boolean; write(text: string): unknown }): (text: string) => void {
  return (text) => void stream.write(stream.isTTY ? cleanText(text) : text);
}
