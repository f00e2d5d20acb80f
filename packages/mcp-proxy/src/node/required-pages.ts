/**
 * A server of the older era may refuse a call until the person has visited web pages (error -32042, specification 2025-11-25, URL
 * mode elicitation). Hosts of that era know the error; for others it is put as the question that it stands for.
 */
import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { UpstreamError } from './errors.js';
import { type HostCapabilities, type HostRequestMethod, hostCan } from './host-channel.js';

/** One page that the person is to visit. */
export interface RequiredPage {
  readonly mode: 'url';
  readonly url: string;
  readonly message: string;
  readonly elicitationId: string;
}

/** A server that never has enough is cut off. */
const MAX_ROUNDS = 10;
const MAX_PAGES = 10;

/** The host of the call, as far as it can be asked. */
export interface PageHost {
  readonly capabilities: HostCapabilities;
  readonly ask: (method: HostRequestMethod, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** Present where the host takes the error itself. */
  readonly pagesRequired?: (pages: readonly RequiredPage[]) => void;
}

export interface VisitPagesOptions {
  readonly serverName: string;
  readonly toolName: string;
  readonly host: PageHost | undefined;
}

/**
 * Makes the call, and makes it again each time that the person has agreed to visit what it asks for. A host that takes the error
 * itself is given it and not asked.
 *
 * @throws {UpstreamError} `UPSTREAM_INPUT_REFUSED` when the person does not agree, or the server asks without end.
 */
export async function visitPages(call: () => Promise<unknown>, options: VisitPagesOptions): Promise<unknown> {
  for (let round = 0; ; round += 1) {
    try {
      return await call();
    } catch (error) {
      const pages = requiredPages(error);
      const { host } = options;
      if (pages.length === 0 || !host || !hostCan(host.capabilities, 'elicitation/create', { mode: 'url' }))
        throw error;
      if (host.pagesRequired) {
        host.pagesRequired(pages);
        throw error;
      }
      if (round === MAX_ROUNDS) throw refused(options, `wants pages visited again and again`, error);
      for (const page of pages) {
        const answer = await host.ask('elicitation/create', { ...page });
        if (!agreed(answer)) throw refused(options, 'needs a page visited, which the person did not agree to', error);
      }
    }
  }
}

/** The pages that an error is about; none when it is about something else. What is no web page is left out. */
export function requiredPages(error: unknown): readonly RequiredPage[] {
  if (!(error instanceof Error) || !('code' in error) || error.code !== ProtocolErrorCode.UrlElicitationRequired)
    return [];
  const data: unknown = 'data' in error ? error.data : undefined;
  const listed = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations.slice(0, MAX_PAGES) : [];
  return listed.flatMap((each: unknown): RequiredPage[] => {
    if (!isRecord(each) || typeof each.url !== 'string' || !/^https?:\/\//i.test(each.url)) return [];
    const { url, message, elicitationId } = each;
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    return [{ mode: 'url', url, message: text(message), elicitationId: text(elicitationId) }];
  });
}

function agreed(answer: unknown): boolean {
  return isRecord(answer) && answer.action === 'accept';
}

function refused({ serverName, toolName }: VisitPagesOptions, what: string, cause: unknown): UpstreamError {
  return new UpstreamError('UPSTREAM_INPUT_REFUSED', serverName, `Tool "${toolName}" of "${serverName}" ${what}.`, {
    cause,
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
