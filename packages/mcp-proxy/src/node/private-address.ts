/** Which network addresses are nobody's business outside: loopback, private, link-local and the like. */
import { isIP } from 'node:net';

/** What an address is good for; `public` is everything that routers on the internet carry. */
export type AddressKind = 'public' | 'loopback' | 'private';

/**
 * Classifies an IP address, brackets and IPv4 in IPv6 included (RFC 6890 and its registries). What is no address is `private`,
 * so that a caller that forgets to resolve a name fails closed.
 */
export function addressKind(address: string): AddressKind {
  const text = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  switch (isIP(text)) {
    case 4:
      return ipv4Kind(text.split('.').map(Number));
    case 6:
      return ipv6Kind(ipv6Groups(text));
    default:
      return 'private';
  }
}

function ipv4Kind(octets: readonly number[]): AddressKind {
  const [a = 0, b = 0, c = 0] = octets;
  if (a === 127) return 'loopback';
  const reserved =
    a === 0 ||
    a === 10 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 192 && b === 168) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113) ||
    a >= 224;
  return reserved ? 'private' : 'public';
}

function ipv6Kind(groups: readonly number[]): AddressKind {
  const [first = 0, second = 0] = groups;
  const leadingZeros = groups.slice(0, 5).every((group) => group === 0);
  if (leadingZeros && groups[5] === 0 && groups[6] === 0) return groups[7] === 1 ? 'loopback' : 'private';
  // IPv4 inside IPv6: mapped, translated (64:ff9b::/96) and 6to4. The IPv4 address decides.
  if (leadingZeros && groups[5] === 0xffff) return ipv4Kind(lastOctets(groups[6], groups[7]));
  if (first === 0x64 && second === 0xff9b && groups[2] === 0) return ipv4Kind(lastOctets(groups[6], groups[7]));
  if (first === 0x2002) return ipv4Kind(lastOctets(groups[1], groups[2]));
  // 2000::/3 is all of the global unicast space; documentation and benchmarking blocks lie inside it.
  const reserved = (first === 0x2001 && (second === 0xdb8 || second < 0x200)) || (first === 0x3fff && second < 0x1000);
  const global = first >= 0x2000 && first <= 0x3fff && !reserved;
  return global ? 'public' : 'private';
}

function lastOctets(high = 0, low = 0): number[] {
  return [high >> 8, high & 255, low >> 8, low & 255];
}

/** The eight groups of a valid IPv6 address. */
function ipv6Groups(text: string): number[] {
  const withHex = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, a: string, b: string, c: string, d: string) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [head = '', tail] = withHex.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return parse(head);
  const [left, right] = [parse(head), parse(tail)];
  return [...left, ...new Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right];
}
