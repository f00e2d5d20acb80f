/** Reading an error result back into its facts, for hosts, proxies and tests. */
import { ERROR_META_KEY, type ErrorSeverity, type ParsedToolError } from './error-types.js';

/**
 * The facts of an error result: from the twin in `_meta`, or, where that was lost on the way, from the text itself.
 * `undefined` for anything that is no error of ours. Takes results from anywhere and never throws.
 *
 * @example
 * ```ts
 * const failure = parseToolError(await client.callTool(call));
 * if (failure?.retryAfter) await wait(failure.retryAfter);
 * ```
 */
export function parseToolError(result: unknown): ParsedToolError | undefined {
  try {
    return isRecord(result) ? (fromTwin(result) ?? fromText(result)) : undefined;
  } catch {
    // A result that throws when it is read is none that we built.
    return undefined;
  }
}

function fromTwin(result: Record<string, unknown>): ParsedToolError | undefined {
  const twin = isRecord(result._meta) ? result._meta[ERROR_META_KEY] : undefined;
  if (!isRecord(twin) || typeof twin.message !== 'string') return undefined;
  const { code, suggestion, retryAfter } = twin;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    message: twin.message,
    severity: severityOf(twin.severity),
    ...(typeof suggestion === 'string' ? { suggestion } : {}),
    availableActions: Array.isArray(twin.availableActions) ? twin.availableActions.filter(isString) : [],
    details: isRecord(twin.details)
      ? Object.fromEntries(
          Object.entries(twin.details).filter((entry): entry is [string, string] => isString(entry[1])),
        )
      : {},
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
  };
}

function fromText(result: Record<string, unknown>): ParsedToolError | undefined {
  if (!Array.isArray(result.content)) return undefined;
  for (const block of result.content) {
    if (!isRecord(block) || block.type !== 'text' || typeof block.text !== 'string') continue;
    const parsed = parseEnvelope(block.text);
    if (parsed) return parsed;
  }
  return undefined;
}

/** Reads the envelope that `renderError` writes. No value in it holds a raw `<`, so the patterns cannot overrun. */
function parseEnvelope(text: string): ParsedToolError | undefined {
  const head = /^<tool_error(?: code="([^"]*)")?(?: severity="([a-z]*)")?>\n<message>([^<]*)<\/message>\n/.exec(text);
  if (!head || !text.endsWith('</tool_error>')) return undefined;
  const suggestion = /\n<recovery>([^<]*)<\/recovery>\n/.exec(text)?.[1];
  const retryAfter = /\n<retry_after>([^<]*) seconds<\/retry_after>\n/.exec(text)?.[1];
  return {
    ...(head[1] === undefined ? {} : { code: unescapeXml(head[1]) }),
    message: unescapeXml(head[3] ?? ''),
    severity: severityOf(head[2]),
    ...(suggestion === undefined ? {} : { suggestion: unescapeXml(suggestion) }),
    availableActions: [...text.matchAll(/\n {2}<action>([^<]*)<\/action>/g)].map((match) =>
      unescapeXml(match[1] ?? ''),
    ),
    details: Object.fromEntries(
      [...text.matchAll(/\n {2}<detail key="([^"]*)">([^<]*)<\/detail>/g)].map((match) => [
        unescapeXml(match[1] ?? ''),
        unescapeXml(match[2] ?? ''),
      ]),
    ),
    ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
  '&#9;': '\t',
  '&#10;': '\n',
  '&#13;': '\r',
};

function unescapeXml(text: string): string {
  return text.replace(/&(?:lt|gt|quot|apos|amp|#9|#10|#13);/g, (entity) => ENTITIES[entity] ?? entity);
}

function severityOf(value: unknown): ErrorSeverity {
  return value === 'warning' || value === 'critical' ? value : 'error';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
