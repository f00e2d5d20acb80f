/** Admits the tools of a list one by one: a broken or oversized one is left out with its reason, the others stay. */
import { isRecord, typeName } from '../request.js';
import { resolveReference } from '../schema/resolve.js';
import { clippedLine } from '../text/clean.js';
import type { IMcpServerSpec, IMcpToolInfo, IMcpToolProblem } from '../types.js';

/** Bounds of what one upstream may put into memory. */
export interface AdmitLimits {
  /** Tools of one server. Default 5,000. */
  readonly maxTools?: number;
  /** Values of one definition (members and items, at every level). Default 20,000. */
  readonly maxNodes?: number;
  /** UTF-16 units of all text in one definition. Default 262,144. */
  readonly maxChars?: number;
  /** The same of all definitions of a server together. Default 4,194,304. */
  readonly maxTotalChars?: number;
  /** Levels of nesting in one definition. Default 64. */
  readonly maxDepth?: number;
}

export interface Admitted {
  readonly tools: readonly IMcpToolInfo[];
  readonly dropped: readonly IMcpToolProblem[];
}

const DEFAULTS: Required<AdmitLimits> = {
  maxTools: 5_000,
  maxNodes: 20_000,
  maxChars: 262_144,
  maxTotalChars: 4_194_304,
  maxDepth: 64,
};
const MAX_NAME_CHARS = 256;
const MAX_DROPPED_SHOWN = 100;

/** The tools that can be offered, cleaned of what no tool has, in the order of the list; and why the rest cannot. */
export function admitTools(listed: unknown, limits: AdmitLimits = {}): Admitted {
  const { maxTools, maxTotalChars, ...bounds } = { ...DEFAULTS, ...limits };
  if (!Array.isArray(listed)) {
    return {
      tools: [],
      dropped: [{ toolName: '(list)', reason: `the tool list is ${typeName(listed)}, not an array` }],
    };
  }
  const tools = new Map<string, IMcpToolInfo>();
  const dropped: IMcpToolProblem[] = [];
  let totalChars = 0;
  for (const item of listed.slice(0, maxTools)) {
    const name = isRecord(item) && typeof item.name === 'string' ? item.name : '';
    const drop = (reason: string): unknown => dropped.push({ toolName: clippedLine(name, 80) || '(no name)', reason });
    const checked = checkTool(item, name, bounds);
    if (checked.kind === 'problem') drop(checked.reason);
    else if (tools.has(name)) drop('listed twice; the first one counts');
    else if (totalChars + checked.chars > maxTotalChars) {
      drop(`the tools of this server have more than ${maxTotalChars} characters together`);
    } else {
      totalChars += checked.chars;
      tools.set(name, checked.tool);
    }
  }
  if (listed.length > maxTools) {
    const reason = `the server lists ${listed.length} tools; only the first ${maxTools} are taken`;
    dropped.unshift({ toolName: '(list)', reason });
  }
  return { tools: [...tools.values()], dropped: dropped.slice(0, MAX_DROPPED_SHOWN) };
}

/** Whether the policy of a server lets a tool be seen and called. The same function decides at list and at call time. */
export function isAllowed(spec: IMcpServerSpec, toolName: string): boolean {
  if (spec.blockedTools?.includes(toolName)) return false;
  return spec.allowedTools === undefined || spec.allowedTools.includes(toolName);
}

type Checked =
  | { readonly kind: 'good'; readonly tool: IMcpToolInfo; readonly chars: number }
  | { readonly kind: 'problem'; readonly reason: string };

function checkTool(item: unknown, name: string, bounds: Bounds): Checked {
  const problem = (reason: string): Checked => ({ kind: 'problem', reason });
  if (!isRecord(item)) return problem(`an entry of the list is ${typeName(item)}, not an object`);
  if (name.trim() === '') return problem('it has no name');
  if (name.length > MAX_NAME_CHARS) {
    return problem(`its name has ${name.length} characters, more than ${MAX_NAME_CHARS}`);
  }
  // A name that must be cleaned to be shown could be shown as the name of another tool.
  if (clippedLine(name, MAX_NAME_CHARS) !== name) {
    return problem('its name has control, invisible or surrounding characters');
  }
  const shape = shapeProblem(item);
  if (shape !== undefined) return problem(shape);
  const tool = toToolInfo(name, item);
  const measured = measure(tool, bounds);
  if (measured.kind === 'too_large') return problem(measured.reason);
  const dangling = danglingReference(tool.inputSchema);
  return dangling === undefined ? { kind: 'good', tool, chars: measured.chars } : problem(dangling);
}

function shapeProblem({ inputSchema, outputSchema }: Record<string, unknown>): string | undefined {
  if (inputSchema !== undefined && typeof inputSchema !== 'boolean' && !isRecord(inputSchema)) {
    return `its inputSchema is ${typeName(inputSchema)}, not an object`;
  }
  if (outputSchema !== undefined && outputSchema !== null && !isRecord(outputSchema)) {
    return `its outputSchema is ${typeName(outputSchema)}, not an object`;
  }
  if (isRecord(inputSchema) && inputSchema.type !== undefined && !mayBeObject(inputSchema.type)) {
    return `its inputSchema describes ${clippedLine(String(inputSchema.type), 40)}, not an object`;
  }
  return undefined;
}

type Bounds = Omit<Required<AdmitLimits>, 'maxTools' | 'maxTotalChars'>;

function mayBeObject(type: unknown): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

type Measured =
  | { readonly kind: 'fits'; readonly chars: number }
  | { readonly kind: 'too_large'; readonly reason: string };

/** Walks without recursion, so that depth itself can be bounded; also finds cycles, which are infinitely deep. */
function measure(definition: unknown, { maxNodes, maxChars, maxDepth }: Bounds): Measured {
  const tooLarge = (what: string): Measured => ({ kind: 'too_large', reason: `its definition ${what}` });
  let nodes = 0;
  let chars = 0;
  const open: { value: unknown; depth: number }[] = [{ value: definition, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') chars += value.length;
    if (++nodes > maxNodes) return tooLarge(`has more than ${maxNodes} values`);
    if (chars > maxChars) return tooLarge(`has more than ${maxChars} characters`);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > maxDepth) return tooLarge(`is nested more than ${maxDepth} levels deep`);
    for (const [key, member] of Object.entries(value)) {
      if (!Array.isArray(value)) chars += key.length;
      open.push({ value: member, depth: depth + 1 });
    }
  }
  return { kind: 'fits', chars };
}

/** A `$ref` into the schema itself that leads nowhere: the schema cannot be used by anyone. */
function danglingReference(schema: unknown): string | undefined {
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const ref = Reflect.get(value, '$ref');
    if (typeof ref === 'string' && ref.startsWith('#/') && resolveReference(schema, ref) === undefined) {
      return `its inputSchema refers to "${clippedLine(ref, 80)}", which is not there`;
    }
    open.push(...Object.values(value).filter((member) => typeof member === 'object' && member !== null));
  }
  return undefined;
}

/** Only what a tool has; a list may hold anything. Optional fields of a wrong type count as not there. */
function toToolInfo(name: string, item: Record<string, unknown>): IMcpToolInfo {
  const { title, description, inputSchema, outputSchema, annotations } = item;
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(isRecord(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
  };
}
