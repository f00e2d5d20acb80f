/** The classifier: one answer in, one verdict with its evidence out. Pure; it keeps no count of retries. */
import { MCPProtocolError } from './errors.js';
import { errorInBody, readDiscover, textsOf } from './message.js';
import { ERA_RULES, type EraRuleName } from './rules.js';
import type { EraTransportKind, McpEraProbeAnswer } from './types.js';
import type { EraVerdict } from './verdict.js';
import { LEGACY_VERSIONS, type McpModernVersion, MODERN_VERSIONS, newestCommonVersion } from './versions.js';

/** What the classifier must know of the question. */
export interface EraQuestion {
  readonly transport: EraTransportKind;
  /** The version asked for. Default: our newest. */
  readonly requested?: McpModernVersion;
  /** Whether this already is the second question; then no third is proposed. */
  readonly retried?: boolean;
  /** Milliseconds since 1970, to read a `Retry-After` that is a date. */
  readonly now?: number;
}

const UNSUPPORTED_VERSION = -32022;
const METHOD_NOT_FOUND = -32601;
/** HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion. The numbers of the drafts are not among them. */
const MODERN_CODES: readonly unknown[] = [-32020, -32021, UNSUPPORTED_VERSION];

/**
 * Whether an error is in the vocabulary that only modern servers have: the codes -32020, -32021 and -32022.
 * An error of another class with such a `code` counts too.
 */
export function isRecognizedModernError(error: unknown): error is MCPProtocolError {
  return MODERN_CODES.includes(Object(error).code);
}

/**
 * Reads the body of a failed HTTP response for proof of a modern server.
 * -32601 is proof on a 404 only: any server of any era may answer it elsewhere.
 */
export function classifyModernHttpFailure(
  status: number,
  bodyText: string,
): { readonly kind: 'modern'; readonly error: MCPProtocolError } | { readonly kind: 'legacy' } {
  const error = errorInBody(bodyText);
  const missing = status === 404 && error?.code === METHOD_NOT_FOUND;
  return error && (missing || isRecognizedModernError(error)) ? { kind: 'modern', error } : { kind: 'legacy' };
}

/**
 * Says what an answer to `server/discover` tells of the peer's era, and why.
 *
 * ```ts
 * classifyEraAnswer({ kind: 'timeout' }, { transport: 'stdio' }).kind; // 'legacy'
 * classifyEraAnswer({ kind: 'timeout' }, { transport: 'http' }).kind; // 'undetermined'
 * ```
 */
export function classifyEraAnswer(answer: McpEraProbeAnswer, question: EraQuestion): EraVerdict {
  const { transport, requested = MODERN_VERSIONS[0], retried, now } = question;
  let received = '';

  switch (answer.kind) {
    case 'result':
      return readResult(answer.result);
    case 'timeout':
      received = 'silence';
      return transport === 'stdio' ? rule('silence on stdio', { proof: 'silence' }) : rule('silence on HTTP');
    default:
      return readError(answer.error);
  }

  function readResult(result: unknown): EraVerdict {
    const discover = readDiscover(result);
    received = 'a result';
    if (!discover) return rule('lists no versions');
    const offered = discover.supportedVersions;
    received = `a DiscoverResult for ${offered}`;
    const version = newestCommonVersion(offered, MODERN_VERSIONS);
    if (version) return rule('a modern version in common', { version, discover });
    return fallBack(offered);
  }

  function readError(error: unknown): EraVerdict {
    const { code, message, data, status = code, bodyText, headers } = Object(error) as Foreign;
    received = typeof message === 'string' ? message : typeof error;
    if (code === 'SERVER_EXITED') return rule('an exit', { proof: 'silence' });
    if (error instanceof MCPProtocolError) return readRefusal(error);
    // The HTTP errors of other libraries carry the status as `status` or `code`.
    if ((status as number) > 99 && (status as number) < 600) {
      return readStatus(status as number, typeof bodyText === 'string' ? bodyText : '', Object(headers));
    }
    // Not every number is JSON-RPC's: an aborted fetch has the code 20.
    if (!Number.isInteger(code) || (code as number) > 0) return rule('out of reach');
    return readRefusal(new MCPProtocolError(code as number, received, data));
  }

  function readStatus(status: number, body: string, headers: Record<string, unknown>): EraVerdict {
    received = `HTTP ${status}`;
    if (status === 401 || status === 403)
      return rule('asks for sign-in', { status, challenge: headers['www-authenticate'] });
    const proof = classifyModernHttpFailure(status, body);
    if (proof.kind === 'modern') return readRefusal(proof.error, status);
    if (status > 499 || [408, 425, 429].includes(status)) {
      return rule('not now', { status, retryAfterMs: waitOf(headers['retry-after'], now) });
    }
    if (status > 299 && status < 400) return rule('a redirect', { status, location: headers.location });
    const error = status > 299 && errorInBody(body);
    if ([400, 404, 405].includes(status)) {
      // A bare status may be a gateway's, in the middle of a deployment.
      return rule('400, 404 or 405 without a modern error', { proof: error ? 'answer' : 'silence' });
    }
    return error ? readRefusal(error, status) : rule('no JSON-RPC', { status });
  }

  function readRefusal(error: MCPProtocolError, status?: number): EraVerdict {
    const { code, data } = error;
    received = `${status ? `HTTP ${status}, ` : ''}JSON-RPC error ${code}`;
    if (status === 404 && code === METHOD_NOT_FOUND) return rule('404 with -32601', { version: requested, error });
    if (!MODERN_CODES.includes(code)) return rule('not a modern error');
    if (code !== UNSUPPORTED_VERSION) return rule('a modern error', { version: requested, error });
    const offered = textsOf(Object(data).supported);
    const version = newestCommonVersion(offered, MODERN_VERSIONS);
    if (version && !retried) return rule('offers a modern version', { version });
    // One that refuses the very version it offers is not to be believed about the others.
    return fallBack(version ? [version] : offered);
  }

  function fallBack(offered: readonly string[]): EraVerdict {
    const version = newestCommonVersion(offered, LEGACY_VERSIONS);
    return version
      ? rule('only legacy versions in common', { version })
      : rule('no version in common', { offered, spoken: [...MODERN_VERSIONS, ...LEGACY_VERSIONS] });
  }

  /** The verdict of a row, with what it needs besides. */
  function rule(name: EraRuleName, more?: object): EraVerdict {
    const [kind, section] = ERA_RULES[name];
    const hasVersion = more && 'version' in more;
    const evidence = { sent: `server/discover at ${requested} over ${transport}`, received, rule: name, section };
    // Who has offered a modern version is no legacy server for being silent, or gone, at the second question.
    if (kind === 'legacy' && retried && !hasVersion) return rule('a modern error', { version: requested });
    const verdict =
      kind === 'legacy'
        ? { kind, version: LEGACY_VERSIONS[0], proof: 'answer', ...more, evidence }
        : hasVersion
          ? { kind, ...more, evidence }
          : { kind: 'undetermined', reason: { kind, ...more }, evidence };
    // The table pairs a rule with its kind, which the compiler cannot follow; the suite checks each row.
    return verdict as EraVerdict;
  }
}

type Foreign = Partial<Record<'code' | 'message' | 'data' | 'status' | 'bodyText' | 'headers', unknown>>;

/** A `Retry-After` in milliseconds: seconds, or a date. */
function waitOf(header: unknown, now = Number.NaN): number | undefined {
  const ms = Number(header) * 1000 || Date.parse(header as string) - now;
  return ms > 0 ? ms : undefined;
}
