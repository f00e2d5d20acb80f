/** Makes a gate of a file: JSON, or a JavaScript module. */
import type { FsmConfig } from '../config.js';
import type { Drawable } from '../diagram.js';
import { StateMachineGate } from '../gate.js';
import { jsonErrorPosition } from './json-position.js';

/** How files are reached; the command gives Node's. */
export interface LoadHost {
  readFile(file: string): Promise<string>;
  /** Imports a module by its path. */
  importModule(file: string): Promise<unknown>;
}

/** The file cannot be used; the message says what and where. */
export class LoadError extends Error {
  override readonly name: string = 'LoadError';
  readonly code: 'UNREADABLE' | 'NOT_JSON' | 'NOT_A_GATE';

  constructor(code: LoadError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @throws `LoadError`, or the gate's own error for a config or binding that cannot work. */
export async function loadGate(file: string, host: LoadHost): Promise<Drawable> {
  return file.endsWith('.json') ? gateOfJson(file, host) : gateOfModule(file, host);
}

async function gateOfJson(file: string, host: LoadHost): Promise<Drawable> {
  const text = await reading(file, () => host.readFile(file));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    throw new LoadError('NOT_JSON', `${file}:${line}:${column}: this is not JSON from here on.`, { cause });
  }
  if (!isRecord(value)) throw notAGate(file, 'the file holds no object');
  return bind(file, gateOfConfig(value), value.tools);
}

async function gateOfModule(file: string, host: LoadHost): Promise<Drawable> {
  const exports = await reading(file, () => host.importModule(file));
  if (!isRecord(exports)) throw notAGate(file, 'the module exports nothing');
  const found = [exports.default, exports.gate, exports.machine, exports.config].find((value) => value !== undefined);
  if (!isRecord(found)) throw notAGate(file, 'no export is named default, gate, machine or config, or it is no object');
  if (isDrawable(found)) return found;
  if (typeof found.getPersistedSnapshot === 'function') {
    // The module has imported xstate, so it is there; a gate over a config does without it.
    const { machineGate } = await import('../xstate.js');
    return bind(file, machineGate(found as unknown as Parameters<typeof machineGate>[0]), exports.tools);
  }
  return bind(file, gateOfConfig(found), exports.tools ?? found.tools);
}

function gateOfConfig({ tools: _bindings, ...config }: Record<string, unknown>): StateMachineGate {
  // The constructor checks every field and names the wrong one.
  return new StateMachineGate<FsmConfig>(config as unknown as FsmConfig);
}

/** Anything that tools can be bound to. */
type Bindable = Drawable & { bindTool(tool: string, when: never, event?: never): unknown };

function bind(file: string, gate: Bindable, tools: unknown): Drawable {
  if (tools === undefined) return gate;
  if (!isRecord(tools)) throw notAGate(file, '"tools" must be an object of bindings by tool name');
  for (const [tool, binding] of Object.entries(tools)) {
    const { states, event } = isRecord(binding) ? binding : { states: binding, event: undefined };
    const events = Array.isArray(event) ? event : undefined;
    // bindTool checks what it gets. Several events need a chooser, which a file cannot hold and a proof does not ask.
    const transition = events === undefined ? event : { event: events, eventFor: () => events[0] };
    gate.bindTool(tool, states as never, transition as never);
  }
  return gate;
}

async function reading<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LoadError('UNREADABLE', `${file} cannot be read: ${why}`, { cause });
  }
}

function notAGate(file: string, why: string): LoadError {
  return new LoadError('NOT_A_GATE', `${file} describes no gate: ${why}. Run "fsm-gate --help" for what it may hold.`);
}

function isDrawable(value: Record<string, unknown>): value is Record<string, unknown> & Drawable {
  return isRecord(value.model) && value.model.bindings instanceof Map;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
