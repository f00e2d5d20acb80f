/** Checks what a tool is bound to, and picks the event of a call that succeeded. */
import { GateError } from './errors.js';
import type { ArgumentGuard, EventChooser, GateEvent, ToolBinding } from './model.js';

/** How a tool is bound, beyond its states. */
export interface BindOptions<Event extends string = string> {
  /** Sent when a call of the tool succeeded; several need `eventFor`. */
  readonly event?: Event | readonly Event[];
  /** Which of the events a result means; `undefined`: none, the state stays. */
  readonly eventFor?: EventChooser<Event>;
  /** Refuses a call by its arguments, with the reason to tell. */
  readonly guard?: ArgumentGuard;
}

/** @throws `GateError` `BINDING_INVALID`, naming the tool and the field. */
export function makeBinding(
  tool: string,
  states: readonly string[],
  transition: string | BindOptions | undefined,
): ToolBinding {
  if (typeof tool !== 'string' || tool === '') refuse('', 'the tool name must be a non-empty string');
  if (!Array.isArray(states) || !states.every(isString))
    refuse(tool, 'its states must be a state name or a list of them');
  if (!isString(transition) && typeof (transition ?? {}) !== 'object') refuse(tool, 'its event must be a string');
  const { event, eventFor, guard }: BindOptions = isString(transition) ? { event: transition } : (transition ?? {});
  const events = [event ?? []].flat().filter((name) => name !== '');
  if (!events.every(isString)) refuse(tool, 'its event must be a string');
  if (events.length > 1 && !eventFor) refuse(tool, 'several events need eventFor, which picks one by the result');
  for (const check of [eventFor, guard])
    if (check !== undefined && typeof check !== 'function') refuse(tool, 'eventFor and guard must be functions');
  return { tool, states: [...states], events, eventFor, guard };
}

/** The event that a call's success sends; `undefined` where it sends none. Throws where the chooser picks an undeclared one. */
export function eventOf(
  { tool, events, eventFor }: Pick<ToolBinding, 'tool' | 'events' | 'eventFor'>,
  args: unknown,
  result: unknown,
): GateEvent | undefined {
  const type = eventFor ? eventFor(result, args) : events[0];
  if (type === undefined) return undefined;
  if (eventFor && !events.includes(type)) throw undeclared(tool, type);
  return { type, args, result };
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function refuse(tool: string, problem: string): never {
  throw new GateError('BINDING_INVALID', `Tool ${JSON.stringify(tool)} cannot be bound: ${problem}.`);
}

function undeclared(tool: string, event: string): GateError {
  return new GateError(
    'BINDING_INVALID',
    `eventFor of tool ${tool} chose ${event}, which the binding does not declare`,
  );
}
