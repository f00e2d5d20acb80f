/** What `connectClient` takes and gives. */
import type { EraFetch } from '../http-probe.js';
import type { EraResolution, EraResolver } from '../resolver.js';
import type { SetTimer } from '../timer.js';
import type { McpEra } from '../types.js';
import type { EraEvidence } from '../verdict.js';
import type { ConnectableClient, ImportModule } from './sdk.js';

export interface ConnectOptions<C extends ConnectableClient> {
  /** Shared by all connections of a process. Default: one for the whole process, in memory. */
  readonly resolver?: EraResolver | undefined;
  /** Your own client of either SDK generation, its handlers set, not connected yet. Default: one is made. */
  readonly client?: C | undefined;
  /** Of the client that is made, and of who asks. Default `interlock-mcp-era`. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  /** Declared by the client that is made, and in the question. Default none. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** The era, where it is configured: nothing is asked, and no mismatch is healed. */
  readonly pin?: McpEra['kind'] | undefined;
  /** What the verdict belongs to, where the origin or command is too coarse: a gateway of several servers. */
  readonly key?: string | undefined;
  /** Whose view this is. Default: a digest of the target's headers or environment. */
  readonly authContext?: string | undefined;
  /** For question and connection over HTTP; where sign-in is added, for instance. */
  readonly fetch?: EraFetch | undefined;
  /**
   * Which process of a stdio server is asked. `'connection'` (default): the one that becomes the connection. `'sibling'`: one
   * of its own that is gone before the connection starts, for a server that is no good after a question it does not know.
   */
  readonly ask?: 'connection' | 'sibling' | undefined;
  /** Default 3 000 over stdio, 10 000 over HTTP. */
  readonly probeTimeoutMs?: number | undefined;
  /** Of the official client's requests while it connects. Default: the SDK's own, 60 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Ends the connecting, not the connection. */
  readonly signal?: AbortSignal | undefined;
  /** Told of what a stdio server writes to stderr. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Told when the connection changed its era. */
  readonly onHeal?: ((heal: EraHeal) => void) | undefined;
  /** Told of what went wrong beside the point: a healing that failed, a session that could not be ended. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How often `run` looks whether the verdict has changed, while nothing else runs. Default 60 000. */
  readonly lookEveryMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly setTimer?: SetTimer | undefined;
  readonly importModule?: ImportModule | undefined;
}

export interface EraHeal {
  readonly from: McpEra['kind'];
  readonly to: McpEra['kind'];
  readonly evidence: EraEvidence;
}

export interface EraConnection<C extends ConnectableClient> {
  /** The official client, connected. It stays the same object when the connection changes its era. */
  readonly client: C;
  readonly era: McpEra;
  readonly resolution: EraResolution;
  /**
   * Does something with the client; when the server's refusal shows that it speaks the other era, reconnects in that and
   * does it once more. A refused request was not carried out; one that a reconnect broke off may have been, and fails.
   */
  run<T>(operation: (client: C) => Promise<T>): Promise<T>;
  /** Ends the session, closes the client, reaps the process. */
  close(): Promise<void>;
}
