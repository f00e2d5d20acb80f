/** A tool result as text for a model: everything that is text in full, everything else named with type and size. */
import { isRecord } from '../request.js';
import { clippedLine } from '../text/clean.js';
import { base64Bytes, jsonText, sizeText } from './json-text.js';

/**
 * The text of a `CallToolResult`, or of anything else that was returned.
 *
 * Text blocks are joined by line feeds; images, audio and binary resources are named with media type and size, never as
 * base64; links are given as URIs; a result with `structuredContent` only is its JSON. An error starts with `Error:`. An
 * `input_required` result says what is asked for. Never throws; cycles and BigInt are written as such.
 */
export function serializeToolResult(value: unknown): string {
  if (value === undefined) return '(no result)';
  if (typeof value === 'string') return value === '' ? '(empty result)' : value;
  try {
    return isResult(value) ? resultText(value) : jsonText(value);
  } catch (error) {
    return `(a result that cannot be read: ${clippedLine(String(error), 200)})`;
  }
}

type Result = Readonly<Record<string, unknown>>;

function isResult(value: unknown): value is Result {
  return (
    isRecord(value) &&
    (Array.isArray(value.content) || Object.hasOwn(value, 'structuredContent') || value.resultType === 'input_required')
  );
}

function resultText(result: Result): string {
  if (result.resultType === 'input_required') return inputRequiredText(result);
  const blocks = Array.isArray(result.content) ? result.content.map(blockText) : [];
  let text = blocks.filter((block) => block !== '').join('\n');
  if (text === '' && result.structuredContent !== undefined) text = jsonText(result.structuredContent);
  if (result.isError === true) return /^error\b/i.test(text) ? text : `Error: ${text || '(the tool gave no reason)'}`;
  return text === '' ? '(empty result)' : text;
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return typeof block === 'string' ? block : jsonText(block);
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? block.text : jsonText(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}: ${mediaText(block)}]`;
    case 'resource':
      return resourceText(block.resource);
    case 'resource_link':
      return linkText(block);
    default:
      return `[${clippedLine(block.type, 40) || 'block without a type'}: ${jsonText(withoutBinary(block))}]`;
  }
}

function mediaText(block: Result): string {
  const mimeType = clippedLine(block.mimeType, 80) || 'unknown type';
  return typeof block.data === 'string' ? `${mimeType}, ${sizeText(base64Bytes(block.data))}` : `${mimeType}, no data`;
}

function resourceText(resource: unknown): string {
  if (!isRecord(resource)) return '[resource: empty]';
  const uri = clippedLine(resource.uri, 500) || 'without URI';
  if (typeof resource.text === 'string') return `[resource ${uri}]\n${resource.text}`;
  const mimeType = clippedLine(resource.mimeType, 80) || 'unknown type';
  if (typeof resource.blob === 'string')
    return `[resource ${uri}: ${mimeType}, ${sizeText(base64Bytes(resource.blob))}]`;
  return `[resource ${uri}: no contents]`;
}

function linkText(link: Result): string {
  const about = [link.title ?? link.name, link.mimeType, link.description].map((part) => clippedLine(part, 300));
  const size = typeof link.size === 'number' ? sizeText(link.size) : '';
  const notes = [...about, size].filter((part) => part !== '').join(', ');
  return `[link ${clippedLine(link.uri, 1_000) || 'without URI'}${notes === '' ? '' : `: ${notes}`}]`;
}

function inputRequiredText(result: Result): string {
  const requests = isRecord(result.inputRequests) ? Object.values(result.inputRequests) : [];
  const asked = requests.map((request) => {
    const params = isRecord(request) && isRecord(request.params) ? request.params : {};
    const method = isRecord(request) ? clippedLine(request.method, 60) : '';
    return `- ${clippedLine(params.message, 500) || method || 'input'}`;
  });
  const what = asked.length > 0 ? `:\n${asked.join('\n')}` : '.';
  return `The tool needs input before it can go on, and this host cannot give it through text${what}`;
}

/** Base64 text has no place in an answer, under whatever name an unknown block holds it. */
function withoutBinary(block: Result): Result {
  return Object.fromEntries(
    Object.entries(block).map(([key, value]) => [
      key,
      (key === 'data' || key === 'blob') && typeof value === 'string' ? sizeText(base64Bytes(value)) : value,
    ]),
  );
}
