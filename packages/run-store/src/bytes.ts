/** Small things done with bytes, on Web globals alone. */

export function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

/** `null` equals `null` only. */
export function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && startsWith(a, b);
}

export function toBase64(bytes: Uint8Array): string {
  // In slices: the argument list of fromCharCode is bounded by the stack.
  const slice = 0x2000;
  let binary = '';
  for (let at = 0; at < bytes.length; at += slice) {
    binary += String.fromCharCode(...bytes.subarray(at, at + slice));
  }
  return btoa(binary);
}

/** Throws `InvalidCharacterError` where the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const urlAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Without padding, with `-` and `_`: fit for keys and URLs. For short inputs, where `btoa` costs ten times as much. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let left = 0;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    left += 8;
    while (left >= 6) {
      left -= 6;
      text += urlAlphabet[(bits >> left) & 63];
    }
  }
  return left === 0 ? text : text + urlAlphabet[(bits << (6 - left)) & 63];
}
