/** What of a server's entry is secret, what of it is a credential, and in which forms it may turn up again. */
import type { UpstreamConfig } from './config.js';

/** Shorter values (`true`, `8080`) are no secrets, and replacing them would garble every message. */
export const SHORTEST_SECRET = 6;

/** One text to look for. */
export interface SecretForm {
  readonly text: string;
  /** Credentials are taken out of what a model gets, too. */
  readonly isCredential: boolean;
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

// Not `GIT_AUTHOR_NAME`, `KEYBOARD` or `KEYCLOAK_REALM`: a result may be about those.
const CREDENTIAL_NAME =
  /token(?!i[sz])|secret|key(?!board|cloak|word)|auth(?!or(?!i))|passw|passphrase|passcode|pwd|credential|cookie|bearer|session|signature|assertion|verifier|^code$|(?:^|[_-])(?:pass|pat|jwt|dsn)(?:$|[_-])/i;
const SCHEME = /^(Bearer|Basic|Token)(?:\s+(.*))?$/is;
/** A path says where something is; messages would be useless without it. */
const PATH = /^(?:\/|~|[A-Za-z]:\\)/;
/** Some services have the key in the path of their address: so many letters and digits in a row are nothing that a person named. */
const OPAQUE = /(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{16,}/;
const E_MAIL = /^[^\s@/:]+@[^\s@/:]+\.[a-z]+$/i;

/** Whether a header, variable or field of that name holds a credential. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name);
}

/** Everything of an entry that is nobody else's business; written there or come from a variable. */
export function secretsOf({ endpoint, oauth, variables = {} }: UpstreamConfig): NamedValue[] {
  const common = [...named(variables), { name: 'client_secret', value: oauth.clientSecret ?? '' }];
  const all =
    endpoint.type === 'stdio'
      ? [...named(endpoint.env), ...ofArguments(endpoint.args), ...common]
      : [...named(endpoint.headers), ...ofAddress(endpoint.url), ...common];
  return all.filter(({ name, value }) => isCredentialName(name) || !PATH.test(value));
}

/** Every way in which a value, and what of it is a secret by itself, may be written. */
export function secretForms(name: string, value: string): SecretForm[] {
  if (isPlace(value)) return [];
  return partsOf({ name, value }).flatMap((part) => {
    const [, scheme, bare = ''] = SCHEME.exec(part.value) ?? [];
    if ((scheme === undefined ? part.value : bare).length < SHORTEST_SECRET) return [];
    const isCredential = isCredentialName(part.name) && !E_MAIL.test(part.value);
    // What has a scheme in front is only written as it was sent; it is the token that is found in other forms.
    const texts = scheme === undefined ? formsOf(part.value) : [part.value];
    return texts.map((text) => ({ text, isCredential }));
  });
}

function named(record: Readonly<Record<string, string>>): NamedValue[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

/** `--token x`, `--api-key=x`, `--header "Authorization: x"`, `postgres://ada:x@db`; other arguments are nobody's secret. */
function ofArguments(args: readonly string[]): NamedValue[] {
  const found = args.flatMap((arg, index): NamedValue[] => {
    if (arg.includes('://')) return ofAddress(arg);
    const [, flag, value = args[index + 1] ?? ''] = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (flag !== undefined) return [{ name: flag, value }];
    const [, header = '', content = ''] = /^([\w-]+):\s*(.*)$/s.exec(arg) ?? [];
    return [{ name: header, value: content }];
  });
  return found.filter(
    ({ name, value }) => isCredentialName(name) && !/^no-/.test(name) && !/^--/.test(value) && !PATH.test(value),
  );
}

/** What of an address lets somebody in: its password, its query (decoded and as it is written), a key in its path. */
function ofAddress(text: string): NamedValue[] {
  if (!URL.canParse(text)) return [];
  const { protocol, username, password, pathname, search, searchParams } = new URL(text);
  const written = search
    .slice(1)
    .split('&')
    .map((pair) => ({ name: pair.split('=')[0] ?? '', value: pair.slice(pair.indexOf('=') + 1) }));
  const isWeb = /^https?:$/.test(protocol);
  const opaque = pathname.split('/').filter((segment) => OPAQUE.test(segment));
  return [
    // On the web, a user without a password is a token.
    { name: 'password', value: password || (isWeb ? username : '') },
    ...written,
    ...[...searchParams].map(([name, value]) => ({ name, value })),
    // It may be an id as well, which a result is about.
    ...(isWeb ? opaque.map((value) => ({ name: 'path', value })) : []),
  ].filter(({ value }) => value !== '');
}

/** An address that lets nobody in says where something is: hosts must be able to open what a server builds from it. */
function isPlace(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value) && ofAddress(value).length === 0;
}

/** The value, and what of it is a secret by itself: a token without its scheme, a password of an address or of `Basic`. */
function partsOf({ name, value }: NamedValue): NamedValue[] {
  const parts = [{ name, value }];
  const [, scheme = '', bare = ''] = SCHEME.exec(value) ?? [];
  if (bare !== '') parts.push({ name, value: bare });
  if (/^basic$/i.test(scheme)) {
    const pair = Buffer.from(bare, 'base64').toString('utf8');
    parts.push({ name, value: pair }, { name, value: pair.slice(pair.indexOf(':') + 1) });
  }
  if (/^cookie$/i.test(name)) {
    parts.push(...value.split(/;\s*/).map((pair) => ({ name, value: pair.slice(pair.indexOf('=') + 1) })));
  }
  if (value.includes('://')) parts.push(...ofAddress(value));
  parts.push(...ofJson(value));
  return parts;
}

/** Some servers take their headers as one variable that holds JSON. */
function ofJson(text: string): NamedValue[] {
  if (!/^\s*[[{]/.test(text)) return [];
  const found: NamedValue[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value !== 'string' || !isCredentialName(name)) return value;
      found.push({ name, value }, { name, value: SCHEME.exec(value)?.[2] ?? value });
      return value;
    });
  } catch {
    // No JSON: then it is one text, which is known already.
  }
  return found;
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
