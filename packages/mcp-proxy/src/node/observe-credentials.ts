/**
 * Learns every credential at the two places that all of them pass: what is sent to a server, and what a sign-in hands out. Whoever
 * adds another way to get one need not think of it.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { SignIn } from './oauth-store.js';
import type { Secrets } from './secrets.js';

/** Headers that every request has and nobody needs to hide. */
const PUBLIC_HEADER =
  /^(?:accept.*|cache-control|connection|content-.*|host|last-event-id|user-agent|mcp-protocol-version|mcp-method|mcp-name|mcp-param-.*)$/;
/** What an OAuth form says openly (RFC 6749, 7636, 8693, 8707). */
const PUBLIC_FIELD =
  /^(?:grant_type|response_type|client_id|redirect_uri|resource|scope|audience|(?:client_assertion|token|subject_token|requested_token|actor_token)_type(?:_hint)?)$/;
/** What is secret in the answers of an authorization server (RFC 6749, 7591, OpenID Connect). */
const SECRET_FIELDS = ['access_token', 'refresh_token', 'id_token', 'client_secret', 'registration_access_token'];
/** Methods of a sign-in whose text, given or returned, is a secret. */
const SECRET_METHODS: ReadonlySet<PropertyKey> = new Set(['token', 'codeVerifier', 'saveCodeVerifier']);

/** The same `fetch`, with the credentials learnt that it sends: headers, and the forms of OAuth with their answers. */
export function observeFetch(fetchFn: FetchLike, secrets: Secrets): FetchLike {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of headers) if (!PUBLIC_HEADER.test(name)) secrets.learn(name, value);
    const form = formOf(init?.body, headers);
    if (!form) return fetchFn(input, init);
    // Whatever a form holds is for the authorization server alone, whatever it is called.
    for (const [name, value] of form) if (!PUBLIC_FIELD.test(name)) secrets.learn('token', value);
    const response = await fetchFn(input, init);
    const text = await response.text();
    const answer = parsed(text);
    learnFields(answer, secrets);
    const granted = response.ok && typeof answer === 'object' && answer !== null && !('error' in answer);
    // The SDK writes the words of a refusal to the console, where nothing can be taken out any more.
    return copyOf(response, granted ? text : secrets.redact(text));
  };
}

/** The same sign-in, with the credentials learnt that it gives and is given. */
export function observeSignIn<T extends SignIn>(signIn: T, secrets: Secrets): T {
  const learn = (method: PropertyKey, value: unknown): void => {
    if (typeof value === 'string' && SECRET_METHODS.has(method)) secrets.learn('token', value);
    learnFields(value, secrets);
  };
  return new Proxy(signIn, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        for (const value of given) learn(property, value);
        // On the target itself: its private fields are not the proxy's.
        const result: unknown = Reflect.apply(member, target, given);
        if (!(result instanceof Promise)) {
          learn(property, result);
          return result;
        }
        return result.then(async (value: unknown) => {
          learn(property, value);
          if (property === 'token') for (const held of await heldBy(target)) secrets.learn('token', held);
          return value;
        });
      };
    },
  });
}

/** A token may be all that is asked for, while a refresh token lies beside it. */
async function heldBy(signIn: SignIn): Promise<readonly string[]> {
  return ('credentials' in signIn && (await signIn.credentials?.())) || [];
}

function formOf(body: unknown, headers: Headers): URLSearchParams | undefined {
  if (body instanceof URLSearchParams) return body;
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm && typeof body === 'string' ? new URLSearchParams(body) : undefined;
}

function learnFields(value: unknown, secrets: Secrets): void {
  if (typeof value !== 'object' || value === null) return;
  for (const field of SECRET_FIELDS) {
    const secret: unknown = Reflect.get(value, field);
    if (typeof secret === 'string') secrets.learn(field, secret);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asked finds out that it is no JSON.
    return undefined;
  }
}

function copyOf(response: Response, text: string): Response {
  const { status, statusText, headers, url } = response;
  const empty = status === 204 || status === 205 || status === 304;
  const copy = new Response(empty ? null : text, { status, statusText, headers });
  // A constructed response has none; what is told of a failure names it.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
