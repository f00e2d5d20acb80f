/**
 * A TCP proxy that loses, holds or silences exactly the bytes a test names, so that "the reply was lost" is a fact and
 * not a race. Nothing in it runs on a timer: a fault strikes when matching bytes arrive, and holds end when released.
 */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

export interface ProxyFault {
  /**
   * Where the fault strikes. `request`: before the target sees the bytes. `reply`: the target has them and acts on
   * them; what it answers is affected.
   */
  readonly at: 'request' | 'reply';
  /**
   * `cut`: throw the bytes away and reset the client's connection. `hold`: keep them until {@link TcpProxy.release}.
   * `silence`: throw them and everything after them away, in both directions, and leave the client's socket open
   * (half-open, as behind a firewall that forgot the connection).
   */
  readonly effect: 'cut' | 'hold' | 'silence';
  /** Bytes of the reply that still get through before the fault, for a reply torn in the middle. Default 0. */
  readonly afterReplyBytes?: number;
}

export interface ArmOptions {
  /** Which client bytes trigger the fault. Default: any. */
  readonly when?: (bytes: Buffer) => boolean;
  /** How many times it strikes; afterwards the proxy is transparent again. Default 1. */
  readonly times?: number;
}

export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  /** Connections accepted so far: tells whether a client came back. */
  readonly accepted: number;
  /** Faults that have struck so far. */
  readonly struck: number;
  /** How often a client sent something after it had heard something (or for the first time): round trips, in effect. */
  readonly roundTrips: number;
  /** Sets the fault, in place of an earlier one; resolves when it strikes for the first time. */
  arm(fault: ProxyFault, options?: ArmOptions): Promise<void>;
  /** Forgets the armed fault; connections already struck stay as they are. */
  disarm(): void;
  /** Lets held bytes through, in order. */
  release(): void;
  /** Resets every open connection. */
  cutAll(): void;
  /** Resets new connections at once, as a server that is down, until {@link accept}. Open ones stay. */
  refuse(): void;
  accept(): void;
  stop(): Promise<void>;
}

export interface TcpProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** Told of socket errors, which are expected while connections are being cut. Default: none. */
  readonly debugLog?: (message: string, error: unknown) => void;
}

/**
 * Starts a proxy on a free loopback port.
 *
 * @example
 * const proxy = await startTcpProxy({ target: { host: '127.0.0.1', port: 6379 } });
 * const lost = proxy.arm({ at: 'reply', effect: 'cut' }, { when: mentions('GETDEL') });
 */
export async function startTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = new FaultyProxy(options);
  await proxy.listen();
  return proxy;
}

/** Matches client bytes that contain `word`, in either case. */
export function mentions(word: string): (bytes: Buffer) => boolean {
  const needle = word.toLowerCase();
  return (bytes) => bytes.toString('latin1').toLowerCase().includes(needle);
}

interface ArmedFault {
  readonly fault: ProxyFault;
  readonly when: (bytes: Buffer) => boolean;
  readonly onStrike: () => void;
  timesLeft: number;
}

class FaultyProxy implements TcpProxy {
  readonly host = '127.0.0.1';
  readonly #options: TcpProxyOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #armed: ArmedFault | undefined;
  #refusing = false;
  #accepted = 0;
  #struck = 0;
  #roundTrips = 0;

  constructor(options: TcpProxyOptions) {
    this.#options = options;
    this.#server = createServer((client) => this.#open(client));
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The TCP proxy is not listening.');
    return address.port;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get struck(): number {
    return this.#struck;
  }

  get roundTrips(): number {
    return this.#roundTrips;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, this.host, resolve);
    });
  }

  arm(fault: ProxyFault, options: ArmOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      this.#armed = { fault, when: options.when ?? (() => true), onStrike: resolve, timesLeft: options.times ?? 1 };
    });
  }

  disarm(): void {
    this.#armed = undefined;
  }

  release(): void {
    for (const link of this.#links) link.release();
  }

  cutAll(): void {
    for (const link of this.#links) link.cut();
  }

  refuse(): void {
    this.#refusing = true;
  }

  accept(): void {
    this.#refusing = false;
  }

  stop(): Promise<void> {
    this.cutAll();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #open(client: Socket): void {
    if (this.#refusing) {
      client.on('error', (error) => this.#log('refused client', error));
      client.resetAndDestroy();
      return;
    }
    this.#accepted += 1;
    const link = new Link({
      client,
      upstream: dial(this.#options.target.port, this.#options.target.host),
      faultFor: (bytes) => this.#faultFor(bytes),
      log: (message, error) => this.#log(message, error),
      onTurn: () => {
        this.#roundTrips += 1;
      },
      onGone: () => this.#links.delete(link),
    });
    this.#links.add(link);
  }

  #faultFor(bytes: Buffer): ProxyFault | undefined {
    const armed = this.#armed;
    if (!armed?.when(bytes)) return undefined;
    armed.timesLeft -= 1;
    if (armed.timesLeft <= 0) this.#armed = undefined;
    this.#struck += 1;
    armed.onStrike();
    return armed.fault;
  }

  #log(message: string, error: unknown): void {
    this.#options.debugLog?.(message, error);
  }
}

interface LinkParts {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly faultFor: (bytes: Buffer) => ProxyFault | undefined;
  readonly log: (message: string, error: unknown) => void;
  readonly onTurn: () => void;
  readonly onGone: () => void;
}

/** One client's connection and the one to the target that stands for it. */
class Link {
  readonly #parts: LinkParts;
  #fault: ProxyFault | undefined;
  #replyBytesLeft = 0;
  #held: (() => void)[] = [];
  #clientsTurn = true;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    const { client, upstream, log } = parts;
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on('data', (bytes) => this.#fromClient(bytes));
    upstream.on('data', (bytes) => this.#fromTarget(bytes));
    client.on('error', (error) => log('client', error));
    upstream.on('error', (error) => log('target', error));
    client.on('close', () => {
      upstream.destroy();
      parts.onGone();
    });
    upstream.on('close', () => {
      // A silenced client must not learn that its peer is gone: that is what half-open means.
      if (this.#fault?.effect !== 'silence') client.destroy();
    });
  }

  release(): void {
    const held = this.#held;
    this.#held = [];
    this.#fault = undefined;
    for (const write of held) write();
  }

  cut(): void {
    this.#parts.client.resetAndDestroy();
    this.#parts.upstream.destroy();
  }

  #fromClient(bytes: Buffer): void {
    const { client, upstream } = this.#parts;
    if (this.#clientsTurn) this.#parts.onTurn();
    this.#clientsTurn = false;
    if (this.#fault === undefined) {
      this.#fault = this.#parts.faultFor(bytes);
      this.#replyBytesLeft = this.#fault?.afterReplyBytes ?? 0;
      // The request that triggers a fault of the reply still reaches the target.
      if (this.#fault?.at === 'reply') {
        upstream.write(bytes);
        return;
      }
    }
    const fault = this.#fault;
    if (fault === undefined) upstream.write(bytes);
    else if (fault.effect === 'hold') {
      if (fault.at === 'reply') upstream.write(bytes);
      else this.#held.push(() => upstream.write(bytes));
    } else if (fault.effect === 'cut') {
      if (fault.at === 'request') this.cut();
    } else client.resume();
  }

  #fromTarget(bytes: Buffer): void {
    const { client } = this.#parts;
    this.#clientsTurn = true;
    const fault = this.#fault;
    // Replies to commands sent before a fault of the request are unharmed, unless the line went silent.
    if (fault === undefined || (fault.at === 'request' && fault.effect !== 'silence')) {
      client.write(bytes);
      return;
    }
    const unharmed = fault.at === 'reply' ? bytes.subarray(0, this.#replyBytesLeft) : bytes.subarray(0, 0);
    const struck = bytes.subarray(unharmed.length);
    this.#replyBytesLeft -= unharmed.length;
    if (unharmed.length > 0) client.write(unharmed);
    if (struck.length === 0) return;
    switch (fault.effect) {
      case 'cut':
        // What was let through must leave before the reset, or the kernel throws it away with the connection.
        if (unharmed.length > 0) client.write('', () => this.cut());
        else this.cut();
        return;
      case 'hold':
        this.#held.push(() => client.write(struck));
        return;
      case 'silence':
        return;
    }
  }
}
