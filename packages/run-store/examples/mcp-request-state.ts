/**
 * An MCP server (2026-07-28) that keeps what a multi-round-trip call must remember on its own side. The client gets a
 * handle in `requestState` (basic/patterns/mrtr): unguessable, good once, for as long as the store keeps it, and only
 * for the principal, the method and the very parameters that it was given for. Nothing of the state travels, so nothing
 * can be read, changed or replayed.
 */
import { newAgentRunId, type PausedRun, type RunScope, type RunStore } from '@mcp-interlock/run-store';
import { acceptedContent, inputRequired, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What the server remembers between the rounds: the price that it quoted, and for what. */
export interface Quote extends PausedRun {
  priceCents: number;
  /** Digest of the parameters. */
  parameters: string;
}

export interface TransferServerOptions {
  /** Needs a lifetime, for example `ttlSeconds: 600`. */
  readonly quotes: RunStore<Quote>;
  readonly quotePrice: (amountCents: number) => number;
  readonly transfer: (to: string, amountCents: number, priceCents: number) => Promise<string>;
}

interface Opened {
  readonly handle: string;
  readonly quote: Quote;
}

const transferInput = z.object({ to: z.string(), amountCents: z.number().int().positive() });
const confirmation = z.object({ confirm: z.boolean() });

export function transferServer({ quotes, quotePrice, transfer }: TransferServerOptions): McpServer {
  /** A peek: what it throws, the SDK answers with -32602 and the same words for every reason. */
  async function verify(handle: string, ctx: ServerContext): Promise<Opened> {
    const quote = await quotes.load(handle, { scope: scopeOf(ctx) });
    if (!quote) throw new Error('unknown, used or expired');
    return { handle, quote };
  }

  const server = new McpServer({ name: 'bank', version: '1.0.0' }, { requestState: { verify } });
  server.registerTool(
    'transfer',
    { description: 'Sends money after the caller has confirmed the price.', inputSchema: transferInput },
    async ({ to, amountCents }, ctx) => {
      const parameters = await digestOf(['transfer', to, amountCents]);
      const opened = ctx.mcpReq.requestState<Opened>();
      if (!opened) {
        const quote: Quote = { priceCents: quotePrice(amountCents), parameters, pendingToolCallIds: ['confirm'] };
        const handle = newAgentRunId();
        await quotes.store(handle, quote, { scope: scopeOf(ctx) });
        return askFor(quote, handle);
      }
      // Other parameters leave the handle as it was; after that, only one caller gets it.
      if (opened.quote.parameters !== parameters) return refused();
      const quote = await quotes.consume(opened.handle, { scope: scopeOf(ctx) });
      if (!quote) return refused();
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', confirmation);
      if (!answer?.confirm) return text('Not sent: the caller did not confirm.');
      return text(await transfer(to, amountCents, quote.priceCents));
    },
  );
  return server;
}

function askFor({ priceCents }: Quote, requestState: string) {
  const message = `Send it at a price of ${(priceCents / 100).toFixed(2)}?`;
  return inputRequired({
    inputRequests: { confirm: inputRequired.elicit({ message, requestedSchema: confirmation }) },
    requestState,
  });
}

/** Demanded again by the store whenever the handle comes back. */
function scopeOf(ctx: ServerContext): RunScope {
  return { principal: ctx.http?.authInfo?.clientId ?? 'anonymous', threadId: ctx.mcpReq.method };
}

async function digestOf(parameters: readonly unknown[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parameters)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function refused() {
  return { ...text('Invalid or expired requestState'), isError: true };
}

function text(answer: string) {
  return { content: [{ type: 'text' as const, text: answer }] };
}
