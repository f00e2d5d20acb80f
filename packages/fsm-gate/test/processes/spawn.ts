/** Starts workers and waits for what they say; never for time. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AuditRecord } from '../../src/audit/index.js';
import type { FromWorker, Phase, ToWorker } from './messages.js';

let ids = 0;

/** A worker process as its parent sees it. */
export class Worker {
  readonly records: AuditRecord[] = [];
  readonly #process: ChildProcess;
  readonly #heard: FromWorker[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(url: string, prefix: string, leaseMs: number) {
    const file = fileURLToPath(new URL('./worker.ts', import.meta.url));
    this.#process = fork(file, [url, prefix, String(leaseMs)], { execArgv: ['--import', 'tsx'] });
    this.#process.on('message', (message: FromWorker) => {
      if (message.kind === 'record') this.records.push(message.record);
      else this.#heard.push(message);
      for (const check of this.#waiting) check();
    });
  }

  async ready(): Promise<this> {
    await this.#hears(({ kind }) => kind === 'ready');
    return this;
  }

  /** Sends a call; resolves with its outcome. */
  async call(call: { key: string; tool: string; log: string; stopIn?: Phase; holdUntil?: string }): Promise<string> {
    ids += 1;
    const id = ids;
    this.#tell({ do: 'call', id, ...call });
    const answer = await this.#hears((message) => message.kind === 'outcome' && message.id === id);
    return answer.kind === 'outcome' ? answer.outcome : '';
  }

  async reaches(phase: Phase): Promise<void> {
    await this.#hears((message) => message.kind === 'phase' && message.phase === phase);
  }

  /** No farewell: the operating system ends it here and now. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  #tell(message: ToWorker): void {
    this.#process.send(message);
  }

  #hears(wanted: (message: FromWorker) => boolean): Promise<FromWorker> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = this.#heard.find(wanted);
        if (!found) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
}
