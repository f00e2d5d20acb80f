/** The error of a stdio server that is no more. The classifier knows it by its `code`. */

/** The server's process ended, or its stdout closed, before it answered. */
export class ServerExitedError extends Error {
  override readonly name: string = 'ServerExitedError';
  readonly code: string = 'SERVER_EXITED';
  declare readonly exitCode: number | null;
  declare readonly signal: string | null;

  constructor(message: string, exitCode: number | null = null, signal: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.signal = signal;
  }
}
