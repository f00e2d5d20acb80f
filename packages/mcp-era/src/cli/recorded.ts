/** A recorded answer, in any of the forms people paste: raw HTTP, `{ status, headers, body }`, or a JSON-RPC message. Pure. */

import { answerFromMessage } from '../answer.js';
import { answerFromHttp } from '../http-answer.js';
import { isObject } from '../is-object.js';
import type { EraTransportKind, McpEraProbeAnswer } from '../types.js';

export interface Recorded {
  readonly answer: McpEraProbeAnswer;
  readonly transport: EraTransportKind;
}

/** @throws {TypeError} when the text is in none of the forms */
export function parseRecorded(text: string, overStdio: boolean): Recorded {
  const transport: EraTransportKind = overStdio ? 'stdio' : 'http';
  // Interim responses, and a proxy's, come before the one that counts: tools print them all.
  const last = text
    .replaceAll('\r\n', '\n')
    .replace(/^\s*(HTTP\/[\d.]+ \d{3}[^\n]*\n([^\n]+\n)*\n(?=HTTP\/[\d.]+ \d{3}))+/, '');
  const raw = /^\s*HTTP\/[\d.]+ (\d{3})[^\n]*(?:\n([\s\S]*))?$/.exec(last);
  if (raw) {
    const [head = '', ...body] = (raw[2] ?? '').split(/(?:^|\n)\n/);
    const headers = Object.fromEntries(
      head.split('\n').flatMap((line) => {
        const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value]];
      }),
    );
    return { answer: answerFromHttp({ status: Number(raw[1]), headers, body: body.join('\n\n') }), transport: 'http' };
  }
  if (!text.trim()) return { answer: { kind: 'timeout' }, transport };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TypeError('neither a raw HTTP response, nor JSON with a status, nor a JSON-RPC message', {
      cause: error,
    });
  }
  if (isObject(value) && Number.isInteger(value.status)) {
    const { status, headers, body = '' } = value;
    const texts = isObject(headers) ? Object.entries(headers).map(([name, text]) => [name, String(text)]) : [];
    const answer = answerFromHttp({
      status: status as number,
      headers: Object.fromEntries(texts),
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { answer, transport: 'http' };
  }
  const answer = answerFromMessage(value);
  if (!answer) throw new TypeError('the JSON is neither a response with a status nor a JSON-RPC response');
  return { answer, transport };
}
