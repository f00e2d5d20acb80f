/** The two pages for people: what this server is, and the payments that wait for an operator. */
import { html, raw } from 'hono/html';
import type { WaitingPayment } from './payments.js';

type Html = ReturnType<typeof html>;

const STYLE = raw(`
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
  pre, code { font: 14px/1.5 ui-monospace, monospace; }
  pre { padding: 1rem; overflow-x: auto; border-radius: .5rem; background: color-mix(in srgb, currentColor 8%, transparent); }
  article { padding: 1rem; margin: 1rem 0; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem; }
  form { display: inline-block; margin-right: .5rem; }
  button { font: inherit; padding: .35rem 1rem; border-radius: .4rem; cursor: pointer; }
`);

/** How to connect, with a config to copy. */
export function homePage(origin: string, storage: string): Html {
  return page(
    'Interlock demo server',
    html`<h1>Interlock demo server</h1>
      <p>A shop for agents. Its checkout is gated by a state machine, large payments wait for a person, and three upstream
      servers sit behind one <code>mcp</code> tool.</p>
      <p>Connect an MCP client to <code>${origin}/mcp</code> (Streamable HTTP):</p>
      <pre>${clientConfig(origin)}</pre>
      <p>State lives in: ${storage}. The operator's page is at the link that the server printed when it started.</p>`,
  );
}

/** Payments that wait, each with its two buttons. */
export function operatorPage(payments: readonly WaitingPayment[], unreadable = 0): Html {
  return page(
    'Waiting payments',
    html`<h1>Waiting payments</h1>
      ${payments.length === 0 ? html`<p>No payment waits for you.</p>` : payments.map(paymentCard)}
      ${unreadable === 0 ? '' : html`<p>${unreadable} more cannot be read; the server's log says why.</p>`}
      <p><a href="/operator">Look again</a></p>`,
  );
}

/** What a host's config file needs to reach this server. */
export function clientConfig(origin: string): string {
  return JSON.stringify({ mcpServers: { 'interlock-demo': { type: 'http', url: `${origin}/mcp` } } }, null, 2);
}

function paymentCard({ runId, order }: WaitingPayment): Html {
  const action = `/operator/payments/${encodeURIComponent(runId)}`;
  return html`<article>
    <h2>${order.amount} €</h2>
    <ul>${order.items.map((item) => html`<li>${item}</li>`)}</ul>
    <form method="post" action="${action}"><button name="decision" value="approve">Approve</button></form>
    <form method="post" action="${action}"><button name="decision" value="reject">Reject</button></form>
  </article>`;
}

function page(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>${STYLE}</style>
  </head>
  <body>${body}</body>
</html>`;
}
