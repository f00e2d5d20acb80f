/** How tools, prompts and resources are called in a gate's bindings. */

const PROMPT = 'prompt:';
const RESOURCE = 'resource:';

/** Which of a server's lists a bound name belongs to. */
export type GatedList = 'tools' | 'prompts' | 'resources';

/** The name under which a prompt is bound: `gate.bindTool(promptName('checkout_help'), ['payment'])`. */
export function promptName(prompt: string): string {
  return `${PROMPT}${prompt}`;
}

/**
 * The name under which a resource is bound: its URI, or the URI template that it is read through
 * (`gate.bindTool(resourceName('shop://orders/{id}'), ['confirmed'])`).
 */
export function resourceName(uriOrTemplate: string): string {
  return `${RESOURCE}${uriOrTemplate}`;
}

export function listOf(boundName: string): GatedList {
  if (boundName.startsWith(PROMPT)) return 'prompts';
  return boundName.startsWith(RESOURCE) ? 'resources' : 'tools';
}

/** Finds the bound names that govern an item of a list or the target of a call; nothing for what is not bound. */
export class BoundNames {
  readonly #bindings: ReadonlyMap<string, unknown>;
  /** A bound name as the list that it is governed by: what is asked for with every call is made once. */
  readonly #alone: Map<string, readonly string[]> = new Map();
  #resources: ResourceIndex | undefined;

  constructor(bindings: ReadonlyMap<string, unknown>) {
    this.#bindings = bindings;
  }

  tool(name: string): readonly string[] {
    return this.#bound(name);
  }

  prompt(name: unknown): readonly string[] {
    return this.#bound(promptName(String(name)));
  }

  template(uriTemplate: unknown): readonly string[] {
    return this.#bound(resourceName(String(uriTemplate)));
  }

  /**
   * A URI is governed by every binding that could mean it: by the URI as the URL parser normalises it (the SDKs look it up that
   * way), and by each template it may have been made from. Matching is generous on purpose: of two readings, both must be open.
   */
  resource(uri: unknown): readonly string[] {
    if (this.#resources?.size !== this.#bindings.size) this.#resources = indexResources(this.#bindings);
    const text = String(uri);
    const asUrl = normalised(text);
    const found = new Set(this.#resources.exact.get(asUrl));
    for (const { name, pattern } of this.#resources.templates) {
      if (pattern.test(text) || pattern.test(asUrl)) found.add(name);
    }
    return [...found];
  }

  #bound(name: string): readonly string[] {
    const known = this.#alone.get(name);
    if (known !== undefined) return known;
    if (!this.#bindings.has(name)) return NONE;
    const alone = [name];
    this.#alone.set(name, alone);
    return alone;
  }
}

const NONE: readonly string[] = [];

interface ResourceIndex {
  /** Of the bindings, when this was made: binding more makes it stale. */
  readonly size: number;
  readonly exact: ReadonlyMap<string, readonly string[]>;
  readonly templates: readonly { readonly name: string; readonly pattern: RegExp }[];
}

function indexResources(bindings: ReadonlyMap<string, unknown>): ResourceIndex {
  const exact = new Map<string, string[]>();
  const templates: { readonly name: string; readonly pattern: RegExp }[] = [];
  for (const name of bindings.keys()) {
    if (!name.startsWith(RESOURCE)) continue;
    const uri = name.slice(RESOURCE.length);
    if (uri.includes('{')) templates.push({ name, pattern: templatePattern(uri) });
    exact.set(normalised(uri), [...(exact.get(normalised(uri)) ?? []), name]);
  }
  return { size: bindings.size, exact, templates };
}

/** Whether a text may have been made from a template (RFC 6570). */
export function mayComeFrom(template: string, text: string): boolean {
  return templatePattern(template).test(text);
}

/** Every expression stands for any text. */
function templatePattern(template: string): RegExp {
  const literal = template.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 'is');
}

function normalised(uri: string): string {
  try {
    return new URL(uri).toString();
  } catch {
    // No URL: the SDKs refuse it themselves; it is compared as written.
    return uri;
  }
}
