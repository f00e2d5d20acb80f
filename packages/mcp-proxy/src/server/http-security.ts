/** Who may talk to the gateway over HTTP: this machine's own programs, or whoever has the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type AuthInfo,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';

export interface HttpSecurityOptions {
  /** `Host` and `Origin` names that are accepted, without ports. Default: those of this machine. */
  readonly allowedHostnames?: readonly string[];
  /** Demanded as `Authorization: Bearer …`. Default: none, which is right only on loopback. */
  readonly token?: string;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly authInfo?: AuthInfo }
  | { readonly kind: 'refused'; readonly response: Response };

/**
 * @throws {TypeError} for what would match no request: a port, a scheme or a wildcard.
 */
export function checkHostnames(hostnames: readonly string[] = []): void {
  const wrong = hostnames.find((name) => !isPlainHost(name) || /\w:\d+$|\]:\d+$/.test(name));
  if (wrong === undefined) return;
  throw new TypeError(
    `allowedHostnames: "${wrong}" is no host name; write it as "proxy.example", without scheme and port.`,
  );
}

/** Holds a request against the options: DNS rebinding first, then the token. */
export function admit(request: Request, options: HttpSecurityOptions): Admission {
  const allowed = options.allowedHostnames?.map((name) => name.toLowerCase());
  const hostnames = allowed ?? localhostAllowedHostnames();
  const origins = allowed ?? localhostAllowedOrigins();
  const rejected = hostHeaderValidationResponse(request, hostnames) ?? originValidationResponse(request, origins);
  if (rejected) return { kind: 'refused', response: rejected };
  if (options.token === undefined) return { kind: 'admitted' };
  const given = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  if (!sameSecret(given, options.token)) {
    const headers = { 'www-authenticate': 'Bearer error="invalid_token"', 'content-type': 'application/json' };
    const body = {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32001, message: 'Unauthorized: a bearer token is needed' },
    };
    return { kind: 'refused', response: new Response(JSON.stringify(body), { status: 401, headers }) };
  }
  // The token itself stays here: what identifies the principal further on is its digest.
  return { kind: 'admitted', authInfo: { token: digest(given), clientId: 'bearer', scopes: [] } };
}

/** Whether a `Host` header is a name and a port: anything else changes its meaning in the address that is built from it. */
export function isPlainHost(host: string | undefined): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host ?? '');
}

function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
