/** Multi-round-trip calls of a modern upstream: asks the host what the upstream wants to know, and calls again with the answers. */
import { UpstreamError } from './errors.js';
import type { HostRequestMethod } from './host-channel.js';

/** A server that never has enough is cut off; the SDK's own driver has the same bound. */
const MAX_ROUNDS = 10;
/** A server may only ask for another round with the same state; such rounds are paced, in milliseconds. */
const STATE_ONLY_DELAY_MS = 250;

const METHODS: ReadonlySet<string> = new Set<HostRequestMethod>([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

/** An `input_required` result (specification 2026-07-28, multi-round-trip requests). */
export interface InputRequired {
  readonly resultType: 'input_required';
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

export function isInputRequired(result: unknown): result is InputRequired {
  return (
    typeof result === 'object' && result !== null && 'resultType' in result && result.resultType === 'input_required'
  );
}

export interface InputRoundsOptions {
  readonly serverName: string;
  readonly toolName: string;
  readonly ask: (method: HostRequestMethod, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** Repeats the call with what is added to its parameters. */
  readonly retry: (added: { inputResponses?: Record<string, unknown>; requestState?: string }) => Promise<unknown>;
  readonly delay: (ms: number) => Promise<void>;
}

/**
 * Goes on until the upstream has a result.
 *
 * @throws {UpstreamError} `UPSTREAM_INPUT_REFUSED` when the host cannot or will not answer, or the upstream asks without end.
 */
export async function answerInputs(first: InputRequired, options: InputRoundsOptions): Promise<unknown> {
  let pending = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const requests = Object.entries(pending.inputRequests ?? {});
    if (requests.length === 0) await options.delay(STATE_ONLY_DELAY_MS);
    const answers = await Promise.all(
      requests.map(async ([key, request]) => [key, await answerOne(key, request, options)] as const),
    );
    const result = await options.retry({
      ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
      ...(pending.requestState !== undefined && { requestState: pending.requestState }),
    });
    if (!isInputRequired(result)) return result;
    pending = result;
  }
  throw refused(options, `asked for input ${MAX_ROUNDS} times without an end`);
}

async function answerOne(key: string, request: unknown, options: InputRoundsOptions): Promise<unknown> {
  const method = typeof request === 'object' && request !== null && 'method' in request ? request.method : undefined;
  if (typeof method !== 'string' || !METHODS.has(method))
    throw refused(options, `asked for something unknown ("${key}")`);
  const params = typeof request === 'object' && request !== null && 'params' in request ? request.params : undefined;
  try {
    return await options.ask(method as HostRequestMethod, isRecord(params) ? params : {});
  } catch (cause) {
    throw refused(
      options,
      `needs ${method} to go on; ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
}

function refused(options: InputRoundsOptions, what: string, cause?: unknown): UpstreamError {
  const { serverName, toolName } = options;
  return new UpstreamError('UPSTREAM_INPUT_REFUSED', serverName, `Tool "${toolName}" of "${serverName}" ${what}`, {
    cause,
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
