/**
 * State handles: unguessable names of a session that a server hands out and a client passes back as a tool argument. HMAC-SHA256
 * over the id, the expiry, the purpose and the principal, so that a handle works for nobody else, nothing else, and not for
 * ever. It is an address, no authorization: whoever may call the tool must still be checked.
 */
import { GateAttachError } from './errors.js';

/** Options of `createStateHandles`. */
export interface StateHandlesOptions {
  /** The secret, at least 32 bytes; the first of several mints, all of them verify (rotation). A string is taken as UTF-8. */
  readonly key: string | Uint8Array | readonly (string | Uint8Array)[];
  /** What the handles name (`basket`); a handle of another purpose is invalid. */
  readonly purpose: string;
  /** For how long a handle is good, in seconds. Default 86,400 (a day). */
  readonly ttlSeconds?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Whom a handle belongs to; without a principal it is anybody's who has no principal either. */
export interface HandleOwner {
  readonly principal?: string | undefined;
}

/** What a handle turned out to be. A handle of somebody else is `invalid`, so that nothing can be learned from it. */
export type HandleCheck =
  | { readonly kind: 'valid'; readonly key: string; readonly expiresAt: number }
  | { readonly kind: 'expired' }
  | { readonly kind: 'invalid' };

/** Mints and verifies the handles of one purpose. */
export interface StateHandles {
  /** A new handle for a new session. */
  mint(owner: HandleOwner): Promise<string>;
  /** Never throws for what a client may send. `key` is the state key; `expiresAt` in milliseconds since the epoch. */
  verify(handle: string, owner: HandleOwner): Promise<HandleCheck>;
}

const VERSION = 'ih1';
const SHAPE: RegExp = /^ih1\.([A-Za-z0-9_-]{22})\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})$/;
const MIN_KEY_BYTES = 32;

/**
 * @throws `GateAttachError` (`OPTION_INVALID`) for a key that is too short or an option that makes no sense.
 * @example
 * ```ts
 * const baskets = createStateHandles({ key: process.env.HANDLE_KEY ?? '', purpose: 'basket' });
 * const basket_id = await baskets.mint({ principal: 'ada' });
 * ```
 */
export function createStateHandles(options: StateHandlesOptions): StateHandles {
  const secrets = secretsOf(options.key);
  const ttlSeconds = options.ttlSeconds ?? 86_400;
  const now = options.now ?? Date.now;
  if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0) throw invalid('ttlSeconds', 'must be a positive number');
  if (options.purpose === '') throw invalid('purpose', 'must name what the handles are for, such as "basket"');
  const keys = secrets.map((secret) =>
    crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']),
  );
  return {
    async mint(owner) {
      const id = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
      const expiry = String(Math.ceil(now() / 1000 + ttlSeconds));
      // secretsOf gives at least one.
      const mac = await crypto.subtle.sign('HMAC', await keys[0]!, signedText(id, expiry, options.purpose, owner));
      return `${VERSION}.${id}.${expiry}.${toBase64Url(new Uint8Array(mac))}`;
    },
    async verify(handle, owner) {
      const parts = SHAPE.exec(handle);
      if (parts === null) return { kind: 'invalid' };
      const [, id = '', expiry = '', mac = ''] = parts;
      const text = signedText(id, expiry, options.purpose, owner);
      const signature = fromBase64Url(mac);
      const checks = await Promise.all(
        keys.map(async (key) => crypto.subtle.verify('HMAC', await key, signature, text)),
      );
      if (!checks.includes(true)) return { kind: 'invalid' };
      const expiresAt = Number(expiry) * 1000;
      if (now() >= expiresAt) return { kind: 'expired' };
      return { kind: 'valid', key: `handle:${options.purpose}:${id}`, expiresAt };
    },
  };
}

/** JSON keeps the fields apart whatever they contain. */
function signedText(id: string, expiry: string, purpose: string, owner: HandleOwner): Uint8Array<ArrayBuffer> {
  const who = owner.principal === undefined ? [] : [owner.principal];
  return new TextEncoder().encode(JSON.stringify(['interlock:state-handle', VERSION, purpose, id, expiry, who]));
}

function secretsOf(key: StateHandlesOptions['key']): Uint8Array<ArrayBuffer>[] {
  const given = typeof key === 'string' || key instanceof Uint8Array ? [key] : [...key];
  if (given.length === 0) throw invalid('key', 'must hold at least one secret');
  return given.map((secret) => {
    const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : new Uint8Array(secret);
    if (bytes.length < MIN_KEY_BYTES) throw invalid('key', `must have at least ${MIN_KEY_BYTES} bytes`);
    return bytes;
  });
}

function invalid(field: string, rule: string): GateAttachError {
  return new GateAttachError('OPTION_INVALID', `createStateHandles: "${field}" ${rule}.`);
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
