/** Reports as text. Pure. */
import type { EraVerdict } from '../verdict.js';
import type { EraReport } from './inspect.js';

const SPECIFICATION = 'https://modelcontextprotocol.io/specification/2026-07-28/';

/** One server, a line a fact. */
export function printReport(report: EraReport): string {
  const { target, era, versions, server, capabilities, latencyMs, fromCache, evidence, reason, error, handshakeError } =
    report;
  const rows: [string, string | undefined][] = [
    [target, era + (fromCache ? ' (from the cache)' : '')],
    ['  versions', versions.join(', ')],
    ['  server', server && [server.name, server.version].filter(Boolean).join(' ')],
    ['  capabilities', capabilities.join(', ')],
    ['  latency', `${Math.round(latencyMs)} ms`],
    ['  received', evidence?.received],
    ['  reason', evidence ? evidence.rule : error],
    ['  see', evidence && see(evidence.section)],
    ['  handshake', handshakeError && `failed: ${handshakeError}`],
    ['  offers', reason?.kind === 'versions-disjoint' ? reason.offered.join(', ') || 'nothing' : undefined],
    ['  we speak', reason?.kind === 'versions-disjoint' ? reason.spoken.join(', ') : undefined],
    ['  sign-in', reason?.kind === 'sign-in-needed' ? reason.challenge : undefined],
    ['  location', reason?.kind === 'redirected' ? reason.location : undefined],
    [
      '  try again',
      reason?.kind === 'unavailable' && reason.retryAfterMs !== undefined
        ? `in ${reason.retryAfterMs / 1000} s`
        : undefined,
    ],
  ];
  return lines(rows.filter((row): row is [string, string] => Boolean(row[1])));
}

/** Many servers, a line each. */
export function printTable(reports: readonly EraReport[]): string {
  const cells = reports.map(({ name, era, versions, server, latencyMs, evidence, error, handshakeError }) => [
    name,
    era,
    versions.join(',') || '-',
    server ? [server.name, server.version].filter(Boolean).join(' ') : '-',
    `${Math.round(latencyMs)} ms`,
    (evidence ? evidence.rule : (error ?? '')) + (handshakeError ? `; handshake failed: ${handshakeError}` : ''),
  ]);
  const rows = [['NAME', 'ERA', 'VERSIONS', 'SERVER', 'LATENCY', 'REASON'], ...cells.map((row) => row.map(plain))];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return `${rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}

/** A verdict on a recorded answer. */
export function printVerdict(verdict: EraVerdict): string {
  const { kind, evidence } = verdict;
  return lines([
    [kind === 'undetermined' ? `undetermined: ${verdict.reason.kind}` : `${kind} ${verdict.version}`, ''],
    ['  received', evidence.received],
    ['  reason', evidence.rule],
    ['  see', see(evidence.section)],
  ]);
}

const see = (section: string): string =>
  section.startsWith('decisions/') ? `docs/${section} of @mcp-interlock/mcp-era` : SPECIFICATION + section;

const lines = (rows: readonly (readonly [string, string])[]): string =>
  rows.map(([label, text]) => `${plain(label)}${text && `: ${plain(text)}`}\n`).join('');

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const STEERING = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** What a server, or a config, says must not steer the terminal it is shown on. */
export const plain = (text: string): string => text.replace(STEERING, ' ');
