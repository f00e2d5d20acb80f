/** One text for one definition, whatever the order of its keys, and its SHA-256. */
import type { IMcpToolInfo } from '../types.js';

/** What an upstream could change to mislead a model. Anything else it sends beside a tool is not shown and not pinned. */
const PINNED_FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** The pinned part of a tool. */
export function pinnedDefinition(tool: IMcpToolInfo): IMcpToolInfo {
  const entries = PINNED_FIELDS.filter((field) => tool[field] !== undefined).map((field) => [field, tool[field]]);
  // The fields are those of the type, and `name` is always among them.
  return Object.fromEntries(entries) as IMcpToolInfo;
}

/** JSON with keys in code unit order (RFC 8785, for the values that JSON.parse can give). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/**
 * SHA-256 in hex over the canonical JSON of a tool's name, title, description, schemas and annotations.
 *
 * @throws TypeError where the runtime has no WebCrypto (a browser page without HTTPS).
 */
export async function hashDefinition(tool: IMcpToolInfo): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(pinnedDefinition(tool)));
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
