/** The text of an error: an XML envelope that models read well, whatever strings go into it. */
import type { ErrorSeverity } from './error-types.js';
import { escapeXml, escapeXmlAttr } from './xml.js';

/** The facts of one error, all of them text already. Absent severity: the short form without the attribute. */
export interface ErrorFields {
  readonly code?: string | undefined;
  readonly severity?: ErrorSeverity | undefined;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly availableActions?: readonly string[] | undefined;
  readonly omittedActions?: number | undefined;
  readonly details?: Readonly<Record<string, string>> | undefined;
  readonly retryAfter?: number | undefined;
}

export const DEFAULT_ERROR_CHARS = 10_000;

/** One line an element, in an order that never changes. */
export function renderError(error: ErrorFields): string {
  const code = error.code ? ` code="${escapeXmlAttr(error.code)}"` : '';
  const severity = error.severity ? ` severity="${error.severity}"` : '';
  const lines = [`<tool_error${code}${severity}>`, `<message>${escapeXml(error.message)}</message>`];
  if (error.suggestion) lines.push(`<recovery>${escapeXml(error.suggestion)}</recovery>`);
  if (error.availableActions?.length) {
    const omitted = error.omittedActions ? ` omitted="${error.omittedActions}"` : '';
    lines.push(`<available_actions${omitted}>`);
    for (const action of error.availableActions) lines.push(`  <action>${escapeXml(action)}</action>`);
    lines.push('</available_actions>');
  }
  const details = Object.entries(error.details ?? {});
  if (details.length > 0) {
    lines.push('<details>');
    for (const [key, value] of details) {
      lines.push(`  <detail key="${escapeXmlAttr(key)}">${escapeXml(value)}</detail>`);
    }
    lines.push('</details>');
  }
  if (error.retryAfter !== undefined) lines.push(`<retry_after>${error.retryAfter} seconds</retry_after>`);
  lines.push('</tool_error>');
  return lines.join('\n');
}

/**
 * Shortens an error until `fits` takes its text: every field to half, again and again, so that the short ones (the code,
 * the way out) outlive the long ones. The text stays well-formed and says what was left out. `undefined` if even the
 * shortest form does not fit.
 */
export function shrinkError(
  error: ErrorFields,
  fits: (text: string) => boolean,
): { readonly fields: ErrorFields; readonly text: string } | undefined {
  for (let limit = 8192; limit >= 4; limit = Math.floor(limit / 2)) {
    const fields = shortened(error, limit);
    const text = renderError(fields);
    if (fits(text)) return { fields, text };
  }
  const least = { code: error.code?.slice(0, 40), severity: error.severity, message: clip(error.message, 0) };
  const text = renderError(least);
  return fits(text) ? { fields: least, text } : undefined;
}

function shortened(error: ErrorFields, limit: number): ErrorFields {
  const listed = Math.ceil(limit / 40);
  const actions = error.availableActions ?? [];
  const details = Object.entries(error.details ?? {});
  return {
    ...error,
    code: error.code === undefined ? undefined : clip(error.code, Math.min(Math.max(limit, 40), 200)),
    message: clip(error.message, limit),
    suggestion: error.suggestion === undefined ? undefined : clip(error.suggestion, limit),
    availableActions: actions.slice(0, listed).map((action) => clip(action, limit)),
    omittedActions: actions.length > listed ? actions.length - listed : undefined,
    details: Object.fromEntries([
      ...details.slice(0, listed).map(([key, value]) => [clip(key, Math.min(limit, 100)), clip(value, limit)]),
      ...(details.length > listed ? [['details_left_out', String(details.length - listed)]] : []),
    ]),
  };
}

/** The first `limit` characters of `text`, never half a surrogate pair, and how many are missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
  return `${text.slice(0, end)}… [${text.length - end} characters left out]`;
}
