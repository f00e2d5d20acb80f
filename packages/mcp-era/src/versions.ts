/** Protocol versions: which this package speaks, and how two are compared. */

/** A version with the `initialize` handshake and sessions. */
export type McpLegacyVersion = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25';

/** A version without a handshake: every request carries its version in `_meta`. */
export type McpModernVersion = '2026-07-28';

/** Newest first. */
export const MODERN_VERSIONS: readonly [McpModernVersion, ...McpModernVersion[]] = ['2026-07-28'];

/** Newest first: what a legacy `initialize` may offer. */
export const LEGACY_VERSIONS: readonly [McpLegacyVersion, ...McpLegacyVersion[]] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];

/**
 * The day a version names, in milliseconds since 1970; `NaN` for what is no `YYYY-MM-DD`.
 * Versions are compared as days, because as text `DRAFT-2026` would come after every real version.
 */
export function versionDate(version: string): number {
  return Date.parse(/^\d{4}-\d\d-\d\d$/.test(version) ? version : '');
}

/** The first of `spoken` (newest first) whose day `offered` names too. */
export function newestCommonVersion<V extends string>(offered: readonly string[], spoken: readonly V[]): V | undefined {
  const days = offered.map(versionDate);
  return spoken.find((version) => days.includes(versionDate(version)));
}
