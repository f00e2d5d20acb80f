/** The examples of the core run, on the built package as a user has it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { StateMachineGate } from '@mcp-interlock/fsm-gate';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditedSessions, readAudit } from '../examples/audit.js';
import { aCheckoutGate } from './helpers.js';

const KEY = 'a secret of at least sixteen bytes';

async function output(example: string): Promise<string[]> {
  const file = fileURLToPath(new URL(`../examples/${example}.ts`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file]);
  return stdout.trim().split('\n');
}

describe('the example', () => {
  it('of a first gate refuses, leads on, and opens', async () => {
    const lines = await output('quickstart');
    expect(lines[0]).toBe(
      'Tool cart_pay is not available in state empty. Call cart_add_item, then cart_checkout first. Available now: cart_add_item.',
    );
    expect(lines.slice(1).join('')).toBe("[ 'cart_add_item', 'cart_checkout', 'search' ]");
  });

  it('of a machine looks at the amount', async () => {
    expect(await output('machine')).toEqual(['refused', 'done paid']);
  });
});

describe('the example of an audit', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'interlock-audit-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('writes a file that proves itself, and a span for each call', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const file = join(folder, 'audit.jsonl');
    // The examples see the built package, this test's helpers its source; a gate is the same by its shape only.
    const gate = aCheckoutGate() as unknown as StateMachineGate;
    const { sessions, chain } = auditedSessions(gate, { file, key: KEY, tracer: provider.getTracer('test') });

    await sessions.run('session-id', 'cart_pay', {}, () => 1);
    await sessions.run('session-id', 'cart_add_item', {}, () => 1);
    await sessions.run('session-id', 'cart_checkout', {}, () => ({ isError: true }));
    const head = await chain.head();

    const read = await readAudit(file, { key: KEY, head });
    expect(read.badLink).toBeUndefined();
    expect([...read.sessions.values()]).toEqual([{ state: 'has_items', version: 1 }]);
    expect(await readFile(file, 'utf8')).not.toContain('session-id');

    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, attributes }) => `${name} ${attributes['gate.kind']}`)).toEqual([
      'gate cart_pay refused',
      'gate cart_add_item committed',
      'gate cart_checkout rolled_back',
    ]);
    expect(spans[1]?.attributes).toMatchObject({ 'gate.state': 'empty', 'gate.next_state': 'has_items' });

    const lines = await readFile(file, 'utf8');
    await writeFile(file, lines.replace('has_items', 'confirmed'));
    expect((await readAudit(file, { key: KEY, head })).badLink).toMatchObject({ reason: 'forged' });
    await writeFile(file, `${lines.split('\n')[0]}\n{"half a li`);
    expect((await readAudit(file, { key: KEY, head })).badLink).toMatchObject({ index: 1, reason: 'malformed' });
  });
});
