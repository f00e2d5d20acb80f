/** From an HTTP response to a probe's answer: JSON or SSE, whole or recorded. Pure. */

import { answerFromMessage } from './answer.js';
import { MCPHttpStatusError } from './errors.js';
import { errorInBody } from './message.js';
import type { McpEraProbeAnswer } from './types.js';

/** An HTTP response as it came in, or as somebody recorded it. Header names in any case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * An HTTP response as a probe's answer: the result or error of a success, else an `MCPHttpStatusError`.
 * Without `id`, any JSON-RPC response in the body counts.
 */
export function answerFromHttp({ status, headers = {}, body }: HttpAnswer, id?: string | number): McpEraProbeAnswer {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const texts = jsonTexts(body);
  // A recorded response may come without its content type; then the body alone decides.
  const readable = /^(application\/(.+\+)?json|text\/event-stream)\b/i.test(
    lower['content-type'] ?? 'application/json',
  );
  if (readable && status >= 200 && status < 300) {
    for (const text of texts) {
      const answer = answerFromMessage(JSON.parse(text), id);
      if (answer) return answer;
    }
  }
  // Notifications may come before the error that counts.
  const said = texts.find((text) => errorInBody(text)) ?? texts[0] ?? body;
  return { kind: 'error', error: new MCPHttpStatusError(status, said, lower) };
}

/** Nobody needs more events to answer one question; and each that only looks like JSON costs an exception. */
const MAX_TEXTS = 1000;

/** The JSON texts of a body: the body itself, else the data of each SSE event. What is no JSON is passed over. */
export function jsonTexts(body: string): string[] {
  const texts = [body];
  let data: string[] = [];
  const endEvent = (): void => {
    if (data.length > 0) texts.push(data.join('\n'));
    data = [];
  };
  for (const line of body.split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(5));
    else if (line === '') endEvent();
    if (texts.length > MAX_TEXTS) break;
  }
  endEvent();
  return texts.filter((text) => /^\s*[[{]/.test(text) && isJson(text));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
