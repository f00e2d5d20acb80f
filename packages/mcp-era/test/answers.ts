/**
 * Answers to `server/discover` that real and imaginable peers give, each with the specification's verdict and our reason.
 * `spec` is what the letter of 2026-07-28 says where it says something: 'modern', 'legacy', 'refuse', or 'silent'.
 */
import { answerFromHttp, answerFromMessage } from '../src/http.js';
import type { EraRuleName, EraTransportKind, McpEraProbeAnswer } from '../src/index.js';
import { ServerExitedError } from '../src/stdio.js';

export interface RecordedAnswer {
  readonly name: string;
  readonly transport: EraTransportKind;
  readonly answer: McpEraProbeAnswer;
  readonly spec: 'modern' | 'legacy' | 'refuse' | 'silent';
  readonly verdict: 'modern' | 'legacy' | 'retry' | 'undetermined';
  readonly rule: EraRuleName;
}

export const ID = 'interlock-era-probe';
export const DISCOVER = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weather', version: '2.0.0' } },
};

const JSON_TYPE = { 'content-type': 'application/json' };
const HTML = '<!doctype html><title>Welcome</title>';
export const result = (value: unknown, more: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: ID, ...more, result: value });
export const refusal = (code: number, message = 'no', data?: unknown, id: unknown = ID): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
const unsupported = (...supported: unknown[]): string =>
  refusal(-32022, 'Unsupported protocol version', { supported, requested: '2026-07-28' });

type Row = [
  name: string,
  status: number,
  body: string,
  spec: RecordedAnswer['spec'],
  verdict: RecordedAnswer['verdict'],
  rule: EraRuleName,
  headers?: Record<string, string>,
];

const MODERN = 'a modern version in common';
const LEGACY_IN_COMMON = 'only legacy versions in common';
const DISJOINT = 'no version in common';
const NO_LIST = 'lists no versions';
const MODERN_ERROR = 'a modern error';
const NO_METHOD = '404 with -32601';
const RETRY = 'offers a modern version';
const OTHER_ERROR = 'not a modern error';
const FALLBACK = '400, 404 or 405 without a modern error';
const SIGN_IN = 'asks for sign-in';
const BUSY = 'not now';
const REDIRECT = 'a redirect';
const NOT_MCP = 'no JSON-RPC';

// biome-ignore format: a table is read by its columns
const HTTP: Row[] = [
  // What it says of itself.
  ['a DiscoverResult', 200, result(DISCOVER), 'modern', 'modern', MODERN],
  ['a DiscoverResult of a dual-era server', 200, result({ ...DISCOVER, supportedVersions: ['2025-11-25', '2026-07-28'] }), 'modern', 'modern', MODERN],
  ['a DiscoverResult that also lists a version of the future', 200, result({ ...DISCOVER, supportedVersions: ['2030-01-01', '2026-07-28'] }), 'modern', 'modern', MODERN],
  ['a DiscoverResult with drafts among its versions', 200, result({ ...DISCOVER, supportedVersions: ['DRAFT-2026-v1', '2026-07-28', 7] }), 'modern', 'modern', MODERN],
  ['a DiscoverResult as an event stream', 200, `event: message\ndata: ${result(DISCOVER)}\n\n`, 'modern', 'modern', MODERN, { 'content-type': 'text/event-stream' }],
  ['a DiscoverResult after a progress notification', 200, `data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n: keep-alive\n\ndata: ${result(DISCOVER)}\n\n`, 'modern', 'modern', MODERN, { 'content-type': 'text/event-stream; charset=utf-8' }],
  ['a DiscoverResult in an event of two data lines, ended by CRLF', 200, `data: ${result(DISCOVER).replace(',"result"', '\r\ndata: ,"result"')}\r\n\r\n`, 'modern', 'modern', MODERN, { 'content-type': 'text/event-stream' }],
  ['resultType beside result', 200, result({ supportedVersions: ['2026-07-28'], capabilities: {} }, { resultType: 'complete', _meta: {} }), 'modern', 'modern', MODERN],
  ['no resultType at all', 200, result({ supportedVersions: ['2026-07-28'], capabilities: {} }), 'modern', 'modern', MODERN],
  ['a DiscoverResult in a batch', 200, `[${result(DISCOVER)}]`, 'silent', 'modern', MODERN],
  ['a DiscoverResult, then another one', 200, `data: ${result(DISCOVER)}\n\ndata: ${result({})}\n\n`, 'modern', 'modern', MODERN, { 'content-type': 'text/event-stream' }],
  ['a DiscoverResult with legacy versions only', 200, result({ ...DISCOVER, supportedVersions: ['2025-06-18', '2025-11-25'] }), 'legacy', 'legacy', LEGACY_IN_COMMON],
  ['a DiscoverResult with versions of the future only', 200, result({ ...DISCOVER, supportedVersions: ['2030-01-01'] }), 'refuse', 'undetermined', DISJOINT],
  ['a result without a version list', 200, result({}), 'legacy', 'legacy', NO_LIST],
  ['a result with an empty version list', 200, result({ ...DISCOVER, supportedVersions: [] }), 'legacy', 'legacy', NO_LIST],
  ['a result whose versions are no list', 200, result({ ...DISCOVER, supportedVersions: '2026-07-28' }), 'legacy', 'legacy', NO_LIST],
  ['a result that lists drafts only', 200, result({ ...DISCOVER, supportedVersions: ['DRAFT-2026-v1'] }), 'legacy', 'legacy', NO_LIST],
  ['a null result', 200, result(null), 'legacy', 'legacy', NO_LIST],
  // What it refuses with.
  ['HeaderMismatch', 400, refusal(-32020), 'modern', 'modern', MODERN_ERROR],
  ['MissingRequiredClientCapability', 400, refusal(-32021, 'no', { requiredCapabilities: { sampling: {} } }), 'modern', 'modern', MODERN_ERROR],
  ['a modern error with a null id', 400, refusal(-32020, 'no', undefined, null), 'modern', 'modern', MODERN_ERROR],
  ['a modern error with a 200', 200, refusal(-32020), 'modern', 'modern', MODERN_ERROR],
  ['a modern error with a 404', 404, refusal(-32020), 'modern', 'modern', MODERN_ERROR],
  ['a modern error with a 405', 405, refusal(-32021), 'modern', 'modern', MODERN_ERROR],
  ['a modern error with a 500', 500, refusal(-32020), 'modern', 'modern', MODERN_ERROR],
  ['a modern error as an event stream', 400, `data: ${refusal(-32020)}\n\n`, 'modern', 'modern', MODERN_ERROR, { 'content-type': 'text/event-stream' }],
  ['UnsupportedProtocolVersion that offers our version after all', 400, unsupported('2026-07-28'), 'modern', 'retry', RETRY],
  ['UnsupportedProtocolVersion of a dual-era server', 400, unsupported('2026-07-28', '2025-11-25'), 'modern', 'retry', RETRY],
  ['UnsupportedProtocolVersion with legacy versions only', 400, unsupported('2025-11-25', '2025-06-18'), 'legacy', 'legacy', LEGACY_IN_COMMON],
  ['UnsupportedProtocolVersion with a legacy version and one of the future', 400, unsupported('2030-01-01', '2025-03-26'), 'legacy', 'legacy', LEGACY_IN_COMMON],
  ['UnsupportedProtocolVersion with nothing in common', 400, unsupported('2030-01-01'), 'refuse', 'undetermined', DISJOINT],
  ['UnsupportedProtocolVersion without a list', 400, refusal(-32022), 'refuse', 'undetermined', DISJOINT],
  ['UnsupportedProtocolVersion with an empty list', 400, unsupported(), 'refuse', 'undetermined', DISJOINT],
  ['UnsupportedProtocolVersion whose list is garbage', 400, unsupported(7, null, 'newest'), 'refuse', 'undetermined', DISJOINT],
  ['404 with -32601', 404, refusal(-32601, 'Method not found'), 'modern', 'modern', NO_METHOD],
  ['404 with -32601 and a null id', 404, refusal(-32601, 'Method not found', undefined, null), 'modern', 'modern', NO_METHOD],
  ['400 with -32601', 400, refusal(-32601), 'legacy', 'legacy', FALLBACK],
  ['405 with -32601', 405, refusal(-32601), 'legacy', 'legacy', FALLBACK],
  ['SDK v1, stateful: 400, -32000, null id', 400, refusal(-32000, 'Bad Request: Server not initialized', undefined, null), 'legacy', 'legacy', FALLBACK],
  ['SDK v1, stateless: 400, -32000, unsupported version', 400, refusal(-32000, 'Bad Request: Unsupported protocol version', undefined, null), 'legacy', 'legacy', FALLBACK],
  ['SDK v1, stateless, header not read: 200 with -32601', 200, refusal(-32601, 'Method not found'), 'legacy', 'legacy', OTHER_ERROR],
  ['the number that a draft gave to HeaderMismatch', 400, refusal(-32001, 'Session not found'), 'legacy', 'legacy', FALLBACK],
  ['the number that a draft gave to MissingRequiredClientCapability', 200, refusal(-32003), 'legacy', 'legacy', OTHER_ERROR],
  ['the number that a draft gave to UnsupportedProtocolVersion', 200, refusal(-32004), 'legacy', 'legacy', OTHER_ERROR],
  ['invalid params', 400, refusal(-32602), 'legacy', 'legacy', FALLBACK],
  ['invalid params with a 200', 200, refusal(-32602), 'legacy', 'legacy', OTHER_ERROR],
  ['-32600 with a null id', 200, refusal(-32600, 'Invalid Request', undefined, null), 'legacy', 'legacy', OTHER_ERROR],
  ['an error without an id', 200, '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}', 'legacy', 'legacy', OTHER_ERROR],
  ['a code of the server\'s own', 200, refusal(1234), 'legacy', 'legacy', OTHER_ERROR],
  ['a reserved code that nobody has defined', 400, refusal(-32050), 'legacy', 'legacy', FALLBACK],
  ['406 with a JSON-RPC error', 406, refusal(-32000, 'Not Acceptable', undefined, null), 'legacy', 'legacy', OTHER_ERROR],
  // What stands between.
  ['400 with an empty body', 400, '', 'legacy', 'legacy', FALLBACK],
  ['400 with a web page', 400, HTML, 'legacy', 'legacy', FALLBACK],
  ['404 with an empty body', 404, '', 'legacy', 'legacy', FALLBACK],
  ['404 with JSON of another kind', 404, '{"error":{"code":404,"message":"Not Found"}}', 'legacy', 'legacy', FALLBACK],
  ['404 with a session error in plain text', 404, 'Invalid session ID', 'legacy', 'legacy', FALLBACK],
  ['405 with an empty body', 405, '', 'legacy', 'legacy', FALLBACK],
  ['400 with a body cut off', 400, refusal(-32020).slice(0, 40), 'legacy', 'legacy', FALLBACK],
  ['401', 401, '', 'silent', 'undetermined', SIGN_IN, { 'WWW-Authenticate': 'Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource"' }],
  ['401 with a JSON-RPC error', 401, refusal(-32001), 'silent', 'undetermined', SIGN_IN],
  ['403', 403, HTML, 'silent', 'undetermined', SIGN_IN],
  ['429', 429, '', 'silent', 'undetermined', BUSY, { 'Retry-After': '7' }],
  ['408', 408, '', 'silent', 'undetermined', BUSY],
  ['425', 425, '', 'silent', 'undetermined', BUSY],
  ['500', 500, 'oops', 'silent', 'undetermined', BUSY],
  ['500 with a JSON-RPC error', 500, refusal(-32603), 'silent', 'undetermined', BUSY],
  ['502', 502, HTML, 'silent', 'undetermined', BUSY],
  ['503', 503, '', 'silent', 'undetermined', BUSY, { 'retry-after': 'Wed, 01 Jan 2031 00:00:10 GMT' }],
  ['504', 504, '', 'silent', 'undetermined', BUSY],
  ['301', 301, '', 'silent', 'undetermined', REDIRECT, { location: 'https://b.example/mcp' }],
  ['302 to a login page', 302, '', 'silent', 'undetermined', REDIRECT, { location: '/login' }],
  ['307', 307, '', 'silent', 'undetermined', REDIRECT],
  ['200 with a web page', 200, HTML, 'silent', 'undetermined', NOT_MCP, { 'content-type': 'text/html' }],
  ['200 with a DiscoverResult that calls itself a web page', 200, result(DISCOVER), 'silent', 'undetermined', NOT_MCP, { 'content-type': 'text/html' }],
  ['200 with an empty body', 200, '', 'silent', 'undetermined', NOT_MCP],
  ['202', 202, '', 'silent', 'undetermined', NOT_MCP],
  ['204', 204, '', 'silent', 'undetermined', NOT_MCP],
  ['200 with {}', 200, '{}', 'silent', 'undetermined', NOT_MCP],
  ['200 with JSON of another kind', 200, '{"status":"ok"}', 'silent', 'undetermined', NOT_MCP],
  ['200 with the answer to another request', 200, result(DISCOVER).replace(ID, 'other'), 'silent', 'undetermined', NOT_MCP],
  ['200 with a request instead of an answer', 200, '{"jsonrpc":"2.0","id":1,"method":"ping"}', 'silent', 'undetermined', NOT_MCP],
  ['an event stream that ends without an answer', 200, ': hello\n\n', 'silent', 'undetermined', NOT_MCP, { 'content-type': 'text/event-stream' }],
  ['410 with plain text', 410, 'gone', 'silent', 'undetermined', NOT_MCP],
];

const http: RecordedAnswer[] = HTTP.map(([name, status, body, spec, verdict, rule, headers = JSON_TYPE]) => ({
  name: `HTTP: ${name}`,
  transport: 'http',
  answer: answerFromHttp({ status, headers, body }, ID),
  spec,
  verdict,
  rule,
}));

type StdioRow = [
  name: string,
  answer: string | McpEraProbeAnswer,
  spec: RecordedAnswer['spec'],
  verdict: RecordedAnswer['verdict'],
  rule: EraRuleName,
];

// biome-ignore format: a table is read by its columns
const STDIO: StdioRow[] = [
  ['a DiscoverResult', result(DISCOVER), 'modern', 'modern', MODERN],
  ['resultType beside result', result({ supportedVersions: ['2026-07-28'] }, { resultType: 'complete' }), 'modern', 'modern', MODERN],
  ['HeaderMismatch', refusal(-32020), 'modern', 'modern', MODERN_ERROR],
  ['MissingRequiredClientCapability', refusal(-32021), 'modern', 'modern', MODERN_ERROR],
  ['UnsupportedProtocolVersion that offers our version', unsupported('2026-07-28'), 'modern', 'retry', RETRY],
  ['UnsupportedProtocolVersion with legacy versions only', unsupported('2024-11-05'), 'legacy', 'legacy', LEGACY_IN_COMMON],
  ['UnsupportedProtocolVersion with nothing in common', unsupported('2030-01-01'), 'refuse', 'undetermined', DISJOINT],
  ['method not found, as SDK v1', refusal(-32601, 'Method not found'), 'legacy', 'legacy', OTHER_ERROR],
  ['invalid params', refusal(-32602), 'legacy', 'legacy', OTHER_ERROR],
  ['-32600 with a null id', refusal(-32600, 'Invalid Request', undefined, null), 'legacy', 'legacy', OTHER_ERROR],
  ['not initialized', refusal(-32002, 'Server not initialized'), 'legacy', 'legacy', OTHER_ERROR],
  ['internal error', refusal(-32603), 'legacy', 'legacy', OTHER_ERROR],
  ['an empty result', result({}), 'legacy', 'legacy', NO_LIST],
  ['silence', { kind: 'timeout' }, 'legacy', 'legacy', 'silence on stdio'],
  ['an exit', { kind: 'error', error: new ServerExitedError('it exited', 1) }, 'silent', 'legacy', 'an exit'],
  ['a command that is not there', { kind: 'error', error: Object.assign(new Error('spawn nope ENOENT'), { code: 'ENOENT' }) }, 'silent', 'undetermined', 'out of reach'],
];

const stdio: RecordedAnswer[] = STDIO.map(([name, answer, spec, verdict, rule]) => ({
  name: `stdio: ${name}`,
  transport: 'stdio',
  answer: typeof answer === 'string' ? (answerFromMessage(JSON.parse(answer), ID) as McpEraProbeAnswer) : answer,
  spec,
  verdict,
  rule,
}));

type ThrownRow = [name: string, error: unknown, verdict: RecordedAnswer['verdict'], rule: EraRuleName];

// biome-ignore format: a table is read by its columns
const THROWN: ThrownRow[] = [
  ['no connection', new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }), 'undetermined', 'out of reach'],
  ['an abort', new DOMException('This operation was aborted', 'AbortError'), 'undetermined', 'out of reach'],
  ['a thrown string', 'boom', 'undetermined', 'out of reach'],
  ['undefined', undefined, 'undetermined', 'out of reach'],
  ['another library\'s JSON-RPC error', Object.assign(new Error('nope'), { code: -32601 }), 'legacy', OTHER_ERROR],
  ['another library\'s modern error', Object.assign(new Error('nope'), { code: -32020 }), 'modern', MODERN_ERROR],
  ['another library\'s HTTP error, by its status', Object.assign(new Error('nope'), { status: 503 }), 'undetermined', BUSY],
  ['another library\'s HTTP error, by its code', Object.assign(new Error('nope'), { code: 401 }), 'undetermined', SIGN_IN],
  ['another library\'s 404', Object.assign(new Error('nope'), { code: 404 }), 'legacy', FALLBACK],
];

const thrown: RecordedAnswer[] = THROWN.map(([name, error, verdict, rule]) => ({
  name: `thrown: ${name}`,
  transport: 'http',
  answer: { kind: 'error', error },
  spec: 'silent',
  verdict,
  rule,
}));

export const ANSWERS: readonly RecordedAnswer[] = [
  ...http,
  ...stdio,
  ...thrown,
  {
    name: 'HTTP: silence',
    transport: 'http',
    answer: { kind: 'timeout' },
    spec: 'silent',
    verdict: 'undetermined',
    rule: 'silence on HTTP',
  },
];
