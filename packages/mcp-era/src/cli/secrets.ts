/** What of a target may be shown, and what of it must not even be repeated by the server. Pure. */
import type { MCPTransportUnion } from '../types.js';
import type { EraReport } from './inspect.js';

/** A target in words fit for a terminal, and every secret that it carries. */
export interface Disclosure {
  readonly target: string;
  readonly secrets: readonly string[];
}

const SECRET_NAME = /key|token|secret|passw|pwd|auth|credential|cookie|bearer|signature/i;
/** Flags whose value is a variable or a header, of which only the name is shown. */
const PAIR_FLAG = /^(-e|--env|-H|--header)$/;
const HIDDEN = '***';

export function disclose(transport: MCPTransportUnion): Disclosure {
  const secrets = Object.values((transport.type === 'stdio' ? transport.env : transport.headers) ?? {});
  const hide = (secret: string): string => {
    secrets.push(secret);
    return HIDDEN;
  };
  const target =
    transport.type === 'stdio'
      ? [transport.command, ...showArgs(transport.args ?? [], hide)].join(' ')
      : showUrl(transport.url, hide);
  return { target, secrets };
}

type Hide = (secret: string) => string;

/** Scheme, host and path: what is in the userinfo, the query and the fragment is nobody's business. */
function showUrl(text: string, hide: Hide): string {
  const url = /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'no URL';
  const { origin, pathname, username, password, search, hash, searchParams } = url;
  for (const secret of [username, password, search.slice(1), hash.slice(1), ...searchParams.values()]) hide(secret);
  return origin + showPath(pathname, hide);
}

const showPath = (path: string, hide: Hide): string =>
  path
    .split('/')
    .map((part) => (isOpaque(part) ? hide(part) : part))
    .join('/');

function showArgs(args: readonly string[], hide: Hide): string[] {
  let before = '';
  return args.map((arg) => {
    const flag = before;
    before = arg;
    // `--api-key value`, but not `--api-key=value other`.
    if (/^-[^=]*$/.test(flag) && SECRET_NAME.test(flag)) return hide(arg);
    return showArg(arg, PAIR_FLAG.test(flag), hide);
  });
}

function showArg(arg: string, isPair: boolean, hide: Hide): string {
  const [, name = '', separator = '', value] = /^([\w-]+)(=|:\s*)(?!\/\/)(.+)$/s.exec(arg) ?? [];
  const isHeader = /^:\s/.test(separator);
  if (value !== undefined && (isPair || isHeader || PAIR_FLAG.test(name) || SECRET_NAME.test(name))) {
    return name + separator + hide(value);
  }
  // Addresses, of databases for instance, carry users and their passwords.
  const shown = arg
    .replace(/\/\/([^/@\s]+)@/g, (_, userinfo: string) => {
      for (const part of userinfo.split(':')) hide(part);
      return `//${hide(userinfo)}@`;
    })
    .replace(/(:\/\/\S*?)\?(\S+)/g, (_, address: string, query: string) => {
      for (const part of query.split(/[&=]/)) hide(part);
      return `${address}?${hide(query)}`;
    });
  return /:\/\//.test(shown) ? showPath(shown, hide) : isOpaque(arg) ? hide(arg) : shown;
}

/** Long, of letters and several digits, and no word: as tokens are. */
const isOpaque = (text: string): boolean =>
  /^[\w+=~.-]{20,}$/.test(text) && /[a-z]/i.test(text) && text.replace(/\D/g, '').length > 2;

/** The report without what the server repeats of the secrets it was given: in its name, its last words, a redirect. */
export function withoutSecrets(report: EraReport, secrets: readonly string[]): EraReport {
  const parts = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret), ...secret.split(/\s+/), ...secret.split(/[\s,;:=@/&?]+/)])
    .filter((part) => part.length >= 6)
    // The whole before its parts, of which the rest would stay.
    .sort((a, b) => b.length - a.length);
  const hide = (text: string): string => parts.reduce((hidden, part) => hidden.replaceAll(part, HIDDEN), text);
  const hideIn = <T>(value: T): T =>
    value && JSON.parse(JSON.stringify(value), (_key, inner) => (typeof inner === 'string' ? hide(inner) : inner));
  const { versions, server, capabilities, evidence, reason, error, handshakeError } = report;
  // The words of our own stay: a variable may well be called `legacy`.
  return {
    ...report,
    versions: versions.map((version) => (/^[\d-]+$/.test(version) ? version : hide(version))),
    capabilities: hideIn(capabilities),
    server: hideIn(server),
    evidence: evidence && { ...evidence, received: hide(evidence.received) },
    reason: reason && { ...hideIn(reason), kind: reason.kind as never },
    error: error && hide(error),
    handshakeError: handshakeError && hide(handshakeError),
  };
}
