/** The options of a proxy with every default filled in, as its parts share them. */
import { McpProxyError } from '../errors.js';
import type { ProxyEvent } from '../events.js';
import type { BackoffOptions, IMcpMetadataStore, IMcpProxyToolOptions } from '../options.js';
import type { IMcpToolPinStore } from '../security/pins.js';
import { reasonOf } from '../text/clean.js';

export interface Settings {
  readonly connectTimeoutMs: number;
  readonly backoff: BackoffOptions;
  readonly pins: IMcpToolPinStore | undefined;
  readonly newTools: 'trust' | 'hold';
  readonly metadata: IMcpMetadataStore | undefined;
  readonly metadataMaxAgeMs: number;
  readonly now: () => number;
  readonly randomUUID: () => string;
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  /** Neither of the two ever throws. */
  readonly debugLog: (line: string) => void;
  readonly emit: (event: ProxyEvent) => void;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;

export function readSettings(options: IMcpProxyToolOptions): Settings {
  const { debugLog, onEvent } = options;
  const log = (line: string): void => {
    try {
      debugLog?.(line);
    } catch {
      // A log that fails has nowhere to be reported; the call that it is about must go on.
    }
  };
  return {
    connectTimeoutMs: positive(options.connectTimeoutMs, 30_000, 'connectTimeoutMs'),
    backoff: {
      initialMs: positive(options.backoff?.initialMs, 1_000, 'backoff.initialMs'),
      factor: positive(options.backoff?.factor, 2, 'backoff.factor'),
      maxMs: positive(options.backoff?.maxMs, 60_000, 'backoff.maxMs'),
    },
    pins: options.pins,
    newTools: options.newTools ?? 'trust',
    metadata: options.metadata,
    metadataMaxAgeMs: positive(options.metadataMaxAgeMs, WEEK_MS, 'metadataMaxAgeMs'),
    now: options.now ?? Date.now,
    randomUUID: options.randomUUID ?? (() => crypto.randomUUID()),
    setTimer: options.setTimer ?? startTimer,
    debugLog: log,
    emit: (event) => {
      try {
        onEvent?.(event);
      } catch (error) {
        log(`onEvent threw on "${event.type}": ${reasonOf(error)}`);
      }
    },
  };
}

function startTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** @throws McpProxyError `INVALID_OPTIONS` naming the option, when it is given and no number above 0. */
export function positive(value: number | undefined, fallback: number, name: string): number {
  if (value === undefined) return fallback;
  if (Number.isFinite(value) && value > 0) return value;
  throw new McpProxyError('INVALID_OPTIONS', `${name} must be a number above 0, not ${value}.`);
}
