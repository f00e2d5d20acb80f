/** What must not leave: the secrets of one server, those of its entry and those that are learnt while it is used. */
import type { UpstreamConfig } from './config.js';

export type Redactor = (text: string) => string;

/** Everything that one server was trusted with. */
export interface Secrets {
  /** Takes all of it out of what a person or a log gets: errors, states, log lines, stderr. */
  readonly redact: Redactor;
  /**
   * Takes credentials out of what a model gets: results and definitions. The other values of an entry (`MODE=filesystem`) may be
   * what a result is about, so they stay there.
   */
  readonly redactCredentials: Redactor;
  /** Whether `redactCredentials` has anything to look for. */
  readonly hasCredentials: boolean;
  /** Remembers what was handed out or is about to be sent. The name of its header or field tells what it is. */
  learn(name: string, value: string): void;
}

/** Shorter values (`true`, `8080`) are no secrets, and replacing them would garble every message. */
const SHORTEST_SECRET = 6;
/** In a result, what is shorter may well be a word. */
const SHORTEST_CREDENTIAL = 16;
/** Tokens are renewed, and callers come and go: of those that were learnt, so many are kept, the last ones used. */
const MAX_LEARNT = 256;
const CREDENTIAL_NAME =
  /token|secret|key|auth|passw|pwd|credential|cookie|bearer|session|signature|assertion|verifier|^code$/i;

const SCHEME = /^(Bearer|Basic|Token)\s+(.+)$/i;

interface Secret {
  readonly forms: readonly string[];
  readonly isCredential: boolean;
}

/** The secrets of a server; `learn` adds to those of its entry. */
export function createSecrets(config: UpstreamConfig, maxLearnt: number = MAX_LEARNT): Secrets {
  const own = new Map<string, Secret>();
  for (const [name, value] of secretsOf(config)) if (!own.has(value)) own.set(value, toSecret(name, value));
  // Apart, since what is new with every request (a proof, the id of a trace) would push out every token.
  const learnt = { credentials: new Map<string, Secret>(), others: new Map<string, Secret>() };
  let known: { readonly all: readonly string[]; readonly credentials: readonly string[] } | undefined;
  const values = (): NonNullable<typeof known> => {
    known ??= valuesOf([...own, ...learnt.credentials, ...learnt.others].map(([, secret]) => secret));
    return known;
  };
  return {
    redact: (text) => without(text, values().all, SHORTEST_SECRET),
    redactCredentials: (text) => without(text, values().credentials, SHORTEST_CREDENTIAL),
    get hasCredentials() {
      return values().credentials.length > 0;
    },
    learn(name, value) {
      if (own.has(value)) return;
      const kept = CREDENTIAL_NAME.test(name) ? learnt.credentials : learnt.others;
      const before = kept.get(value);
      kept.delete(value);
      kept.set(value, before ?? toSecret(name, value));
      if (before) return;
      const [oldest] = kept.keys();
      if (kept.size > maxLearnt && oldest !== undefined) kept.delete(oldest);
      known = undefined;
    },
  };
}

/** Everything of a server's entry that is nobody else's business, by name; written there or come from a variable. */
function secretsOf({ endpoint, oauth, variableValues = [] }: UpstreamConfig): (readonly [string, string])[] {
  const own = [
    ...variableValues.map((value) => ['variable', value] as const),
    ['client_secret', oauth.clientSecret ?? ''] as const,
  ];
  const named =
    endpoint.type === 'stdio'
      ? [...Object.entries(endpoint.env), ...own]
      : [...Object.entries(endpoint.headers), ...ofUrl(endpoint.url), ...own];
  // What says where things are, such as HOME, is no secret, and messages would be useless without it.
  return named.filter(([name, value]) => CREDENTIAL_NAME.test(name) || !/^(?:\/|~|[A-Za-z]:\\)/.test(value));
}

/** Password and query of an address, decoded and as they are written. */
function ofUrl(text: string): (readonly [string, string])[] {
  const { password, search, searchParams } = new URL(text);
  const written = search
    .slice(1)
    .split('&')
    .map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)] as const);
  return [['password', password], ...written, ...searchParams];
}

function toSecret(name: string, value: string): Secret {
  return {
    forms: partsOf(name, value)
      .filter((part) => part.length >= SHORTEST_SECRET)
      // What has a scheme in front is only written as it was sent; it is the token that is found in other forms.
      .flatMap((part) => (SCHEME.test(part) ? [part] : formsOf(part))),
    isCredential: CREDENTIAL_NAME.test(name),
  };
}

/** The value, and what of it is a secret by itself: a token without its scheme, a password of an address or of `Basic`. */
function partsOf(name: string, value: string): string[] {
  const parts = [value];
  const [, scheme = '', bare = ''] = SCHEME.exec(value) ?? [];
  if (bare !== '') parts.push(bare);
  if (/^basic$/i.test(scheme)) {
    const pair = Buffer.from(bare, 'base64').toString('utf8');
    parts.push(pair, pair.slice(pair.indexOf(':') + 1));
  }
  if (/^cookie$/i.test(name)) parts.push(...value.split(/;\s*/).map((pair) => pair.slice(pair.indexOf('=') + 1)));
  if (value.includes('://') && URL.canParse(value)) parts.push(new URL(value).password);
  return parts;
}

/** How a value may be written in an address, in JSON or in base64. */
function formsOf(value: string): string[] {
  const asForm = new URLSearchParams({ '': value }).toString().slice(1);
  const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
  return [
    value,
    asForm,
    asForm.replaceAll('+', '%20'),
    JSON.stringify(value).slice(1, -1),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ];
}

function valuesOf(secrets: readonly Secret[]) {
  const longEnough = (chosen: readonly Secret[], shortest: number): string[] =>
    [...new Set(chosen.flatMap(({ forms }) => forms))].filter((value) => value.length >= shortest);
  return {
    all: longEnough(secrets, SHORTEST_SECRET),
    credentials: longEnough(
      secrets.filter(({ isCredential }) => isCredential),
      SHORTEST_CREDENTIAL,
    ),
  };
}

/** Every place of every value is found first, then taken out: of values that overlap or hold one another nothing is left. */
function without(text: string, values: readonly string[], shortest: number): string {
  if (text.length < shortest) return text;
  const places: [start: number, end: number][] = [];
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
      places.push([at, at + value.length]);
  }
  if (places.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of places.sort(([a], [b]) => a - b)) {
    if (from >= end) parts.push(text.slice(end, from), '[secret]');
    end = Math.max(end, to);
  }
  return parts.join('') + text.slice(end);
}
