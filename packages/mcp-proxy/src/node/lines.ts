/** Cuts a byte stream into lines, holding no more of an unfinished one than it is allowed to. */

/** Thrown by `LineSplitter.push` when a line is longer than the bound. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/** One splitter per stream; not usable any more once it has thrown. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that `chunk` completes, without their line ends.
   *
   * @throws {LineTooLongError}
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#hold(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return lines;
  }

  #hold(piece: Buffer): void {
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxBytes) {
      this.#pieces = [];
      throw new LineTooLongError(`a line is longer than ${this.#maxBytes} bytes`);
    }
    this.#pieces.push(piece);
  }

  #take(): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces, this.#heldBytes);
    this.#pieces = [];
    this.#heldBytes = 0;
    const text = line?.toString('utf8') ?? '';
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }
}
