/** Binary content as base64, with Web globals only. */
import { ResponseError } from '../response-error.js';

/** Bytes, or text that is base64 already. */
export type BinaryInput = string | Uint8Array | ArrayBuffer;

/** Base64 of `data` (RFC 4648, section 4). A string is checked, not encoded. */
export function toBase64(data: BinaryInput, what: string): string {
  if (typeof data === 'string') return checkedBase64(data, what);
  if (data instanceof Uint8Array) return encodeBytes(data);
  if (data instanceof ArrayBuffer) return encodeBytes(new Uint8Array(data));
  throw new ResponseError('INVALID_CONTENT', `${what} must be a Uint8Array, an ArrayBuffer or a base64 string.`);
}

/** Refuses what `atob` of a client would refuse, and the URL-safe alphabet, which half of them do. */
export function checkedBase64(text: unknown, what: string): string {
  if (typeof text === 'string' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return text;
  throw new ResponseError(
    'INVALID_CONTENT',
    `${what} is no base64 of the standard alphabet with padding. Pass the bytes (a Uint8Array) or re-encode it; a data: URL goes without its head.`,
  );
}

// A multiple of 3, so that only the last piece is padded, and few enough arguments for one call.
const PIECE = 0x6000;

function encodeBytes(bytes: Uint8Array): string {
  let encoded = '';
  for (let start = 0; start < bytes.length; start += PIECE) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE)));
  }
  return encoded;
}
