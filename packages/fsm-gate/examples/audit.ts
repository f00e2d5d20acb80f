/** Every decision to a file, as a chain that shows any change, and to OpenTelemetry, as a span for each call. */
import { appendFile, readFile } from 'node:fs/promises';
import type { StateMachineGate } from '@mcp-interlock/fsm-gate';
import { type AuditRecord, createAuditChain, type Replay, replay } from '@mcp-interlock/fsm-gate/audit';
import { createGateSessions, type GateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';

/** Sessions whose decisions are kept in `file` (one JSON record a line) and traced. */
export function auditedSessions(gate: StateMachineGate, options: { file: string; key: string; tracer: Tracer }) {
  const chain = createAuditChain({
    key: options.key,
    // The key of a session may be its id on the wire, which is as good as a password.
    sessions: 'hashed',
    write: (record) => appendFile(options.file, `${JSON.stringify(record)}\n`),
  });
  const trace = spansOf(options.tracer);
  const sessions: GateSessions = createGateSessions({
    gate,
    onDecision: (record) => {
      chain.append(record);
      trace(record);
    },
  });
  return { sessions, chain };
}

/** Proves the file and tells where every session stands. Keep `chain.head()` elsewhere to notice a file that was cut. */
export async function readAudit(file: string, options: Parameters<typeof replay>[1]): Promise<Replay> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return replay(lines.map(parsed), options);
}

/** A span from `reserved` to `committed`, `rolled_back` or `lost`; an event-like span for what has no duration. */
function spansOf(tracer: Tracer): (record: AuditRecord) => void {
  const open = new Map<string, Span>();
  return (record) => {
    const { kind, tool = kind, fence, state, nextState = '', version, reason = '', time } = record;
    const call = fence === undefined ? undefined : `${record.session} ${fence}`;
    const attributes = { 'gate.kind': kind, 'gate.state': state, 'gate.next_state': nextState, 'gate.reason': reason };
    const span = (call !== undefined && open.get(call)) || tracer.startSpan(`gate ${tool}`, { startTime: time });
    span.setAttributes({ ...attributes, 'gate.version': version });
    if (kind === 'reserved' && call !== undefined) {
      open.set(call, span);
      return;
    }
    if (kind === 'lost') span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    if (call !== undefined) open.delete(call);
    span.end(time);
  };
}

/** A line that is no JSON is a bad link, not a crash. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
