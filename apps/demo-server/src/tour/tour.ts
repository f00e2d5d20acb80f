/**
 * The tour: an agent with the official client walks through everything that the demo server composes. Each step checks what
 * came back, so that a tour that ends well has proved what it printed.
 */
import type { RunningServer } from '../http.js';
import { type Agent, connectAgent, type ToolAnswer } from './agent.js';
import { type Transcript, transcript } from './transcript.js';

export interface TourOptions {
  readonly approvalLimit: number;
  readonly print: (line: string) => void;
}

/** Something came back that the tour did not expect; the message says what. */
class TourError extends Error {
  override readonly name = 'TourError';
}

interface Guide {
  readonly server: RunningServer;
  readonly agent: Agent;
  readonly says: Transcript;
  readonly approvalLimit: number;
}

/** Plays the whole tour. Throws `TourError` at the first step that went otherwise than it should. */
export async function playTour(server: RunningServer, options: TourOptions): Promise<void> {
  const says = transcript(options.print);
  options.print('Interlock demo: a shop that keeps its agent in step.');
  options.print(`An official MCP client talks to ${server.url}/mcp over Streamable HTTP.`);
  const agent = await connectAgent(server.url);
  const guide: Guide = { server, agent, says, approvalLimit: options.approvalLimit };
  try {
    await gatedTools(guide);
    await cheapAnswers(guide);
    await paidAtOnce(guide);
    const runId = await parkedPayment(guide);
    await resumedOnce(guide, runId);
    await oneToolForMany(guide);
  } finally {
    await agent.close();
  }
  options.print('\nThat was all of it: every answer above was checked while it was printed.');
}

/** fsm-gate: the list follows the state; a call out of turn is refused with the way out. */
async function gatedTools({ agent, says }: Guide): Promise<void> {
  says.chapter('The gate (fsm-gate)', 'A state machine decides which tools exist right now.');
  await show(agent, says, 'with an empty cart');
  const refused = await call(agent, says, 'cart_pay');
  expect(refused.isError, 'cart_pay with an empty cart must be refused');
  expect(refused.text.includes('cart_add_item'), 'the refusal must name the way out');
  says.note('Refused out of turn, and told which calls lead there. The state did not move.');

  const before = agent.listChanges();
  expect(
    !(await call(agent, says, 'cart_add_item', { sku: 'desk-lamp', quantity: 2 })).isError,
    'adding an item must work',
  );
  await agent.listChanged(before + 1);
  await show(agent, says, 'after list_changed, with items in the cart');
  await call(agent, says, 'cart_checkout');
  const paying = await show(agent, says, 'after the checkout moved the state to payment');
  expect(
    paying.includes('cart_pay') && !paying.includes('cart_add_item'),
    'payment must open cart_pay and close the cart',
  );
}

/** responses: the same facts in fewer tokens. */
async function cheapAnswers({ agent, says }: Guide): Promise<void> {
  says.chapter('Cheap answers (responses)', 'The catalogue as TOON, with its size beside JSON of the same rows.');
  const toon = await call(agent, says, 'catalogue_list', { format: 'toon' });
  const json = await agent.call('catalogue_list', { format: 'json' });
  const pretty = JSON.stringify(JSON.parse(json.text), null, 2);
  expect(toon.text.length < json.text.length, 'TOON must be shorter than compact JSON');
  says.note(`TOON ${size(toon.text)}; compact JSON ${size(json.text)}; pretty JSON ${size(pretty)}.`);
  const unknown = await call(agent, says, 'catalogue_list', { category: 'boats' });
  expect(unknown.isError, 'an unknown category must be an error');
  says.note('An error that says what to do instead.');
}

async function paidAtOnce({ agent, says, approvalLimit }: Guide): Promise<void> {
  says.chapter('A small payment', `Up to ${approvalLimit} € nobody has to be asked.`);
  const paid = await call(agent, says, 'cart_pay');
  expect(paid.structured.status === 'paid', 'a small payment must be made at once');
  await call(agent, says, 'order_start_over');
}

/** run-store: the run waits, and looking at it does not use it up. */
async function parkedPayment({ agent, says, server, approvalLimit }: Guide): Promise<string> {
  says.chapter(
    'A payment that waits (run-store)',
    `Above ${approvalLimit} € the run is parked until a person decides.`,
  );
  await call(agent, says, 'cart_add_item', { sku: 'standing-desk', quantity: 1 + Math.ceil(approvalLimit / 699) });
  await call(agent, says, 'cart_checkout');
  const parked = await call(agent, says, 'cart_pay');
  const runId = String(parked.structured.runId);
  expect(parked.structured.status === 'waiting_for_approval', 'a large payment must wait');
  await show(agent, says, 'while the payment waits');

  for (const time of ['first', 'second']) {
    const peeked = await operator(server, says, 'GET', runId);
    expect(peeked.status === 200, `the ${time} look at the waiting payment must show it`);
  }
  says.note('Looked at twice: peeking leaves the run in place.');
  return runId;
}

/** run-store: one decision wins, every later one is refused. */
async function resumedOnce({ agent, says, server }: Guide, runId: string): Promise<void> {
  says.chapter('Resumed exactly once', 'The operator approves; a second resume gets nothing.');
  const before = agent.listChanges();
  expect((await operator(server, says, 'POST', runId)).status === 200, 'the approval must resume the run');
  expect((await operator(server, says, 'POST', runId)).status === 409, 'a second resume must be refused');
  await agent.listChanged(before + 1);
  const result = await call(agent, says, 'payment_result', { runId });
  expect(result.structured.status === 'paid', 'the agent must learn that the payment was made');
  const tools = await show(agent, says, 'after the approval moved the state to confirmed');
  expect(tools.includes('order_start_over'), 'the confirmed order must be open for a new start');
}

/** mcp-proxy and mcp-era: three servers behind one tool. */
async function oneToolForMany({ agent, says }: Guide): Promise<void> {
  says.chapter(
    'Many servers behind one tool (mcp-proxy, mcp-era)',
    'Three published servers over stdio; none runs until it is needed.',
  );
  await call(agent, says, 'mcp', {});
  const found = await call(agent, says, 'mcp', { search: 'read a text file; add two numbers' });
  expect(found.text.includes('read_text_file'), 'the search must find the tool for files');
  await call(agent, says, 'mcp', { describe: 'read_text_file', server: 'filesystem' });
  const folders = await call(agent, says, 'mcp', { tool: 'list_allowed_directories', server: 'filesystem' });
  const folder = folders.text.split('\n').find((line) => line.startsWith('/') || /^[A-Z]:/.test(line)) ?? '';
  const read = await call(agent, says, 'mcp', {
    tool: 'read_text_file',
    server: 'filesystem',
    args: { path: `${folder}/welcome.txt` },
  });
  expect(read.text.includes('behind a proxy behind a gate'), 'the file must be read through the proxy');
  const status = await call(agent, says, 'mcp', { status: true });
  expect(/legacy|modern/.test(status.text), 'status must say which era each connected server speaks');
  says.note('mcp-era asked each server once which protocol it speaks (legacy: with a handshake and sessions, before');
  says.note('2026-07-28), and the proxy connected accordingly.');
}

async function call(
  agent: Agent,
  says: Transcript,
  name: string,
  args: Record<string, unknown> = {},
): Promise<ToolAnswer> {
  says.call('agent', `${name} ${JSON.stringify(args)}`);
  const answer = await agent.call(name, args);
  says.answer(answer.text);
  return answer;
}

async function show(agent: Agent, says: Transcript, when: string): Promise<string[]> {
  says.call('agent', `tools/list (${when})`);
  const names = await agent.toolNames();
  says.answer(names.join('  '));
  return names;
}

/** The operator's side of the same server, over plain HTTP. */
async function operator(
  server: RunningServer,
  says: Transcript,
  method: 'GET' | 'POST',
  runId: string,
): Promise<Response> {
  says.call('operator', `${method === 'GET' ? 'peek at' : 'approve'} ${runId}`);
  const response = await fetch(`${server.url}/operator/payments/${runId}`, {
    method,
    headers: { authorization: `Bearer ${server.operatorToken}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify({ decision: 'approve' }) }),
  });
  says.answer(`${response.status} ${await response.text()}`);
  return response;
}

/** About four characters of such text make a token. */
function size(text: string): string {
  return `${text.length} characters (about ${Math.ceil(text.length / 4)} tokens)`;
}

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new TourError(`The tour stopped: ${what}.`);
}
