/** Upstream tools that hosts see beside `mcp`: for the few that an agent needs in every conversation. */
import { createHash } from 'node:crypto';
import { isSpecType, type Tool } from '@modelcontextprotocol/server';
import type { McpProxyTool } from '../proxy-tool.js';
import type { IMcpCallOptions, IMcpProxyResult, IMcpToolInfo } from '../types.js';

/** `server/tool`, as the configuration and the upstream name them. */
export type DirectToolName = `${string}/${string}`;

/** Hosts accept no other names (`^[a-zA-Z0-9_-]{1,64}$`). */
const MAX_NAME_LENGTH = 64;

/** They go the same way as calls of `mcp`: allow-lists, pins and approval hold. */
export class DirectTools {
  readonly #proxy: McpProxyTool;
  readonly #byName: ReadonlyMap<string, { readonly server: string; readonly tool: string }>;

  readonly #stale = new Set<string>();

  constructor(proxy: McpProxyTool, names: readonly DirectToolName[]) {
    this.#proxy = proxy;
    const targets = [...new Set(names)].map((name) => {
      const slash = name.indexOf('/');
      return { server: name.slice(0, slash), tool: name.slice(slash + 1) };
    });
    // `a` with `b__c` and `a__b` with `c` come out alike: then neither gets the plain name, lest one is called for the other.
    const plain = targets.map(({ server, tool }) => exposedName(server, tool));
    this.#byName = new Map(
      targets.map((target, index) => {
        const name = plain[index] ?? '';
        const shared = plain.indexOf(name) !== plain.lastIndexOf(name);
        return [shared ? nameWithDigest(name, target) : name, target];
      }),
    );
  }

  knows(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Takes note that a server's tools changed; says whether that concerns any of these. */
  changed(serverName: string): boolean {
    const concerned = [...this.#byName.values()].some(({ server }) => server === serverName);
    if (concerned) this.#stale.add(serverName);
    return concerned;
  }

  /** Definitions of those that can be had; a server that fails takes its own away and no others. */
  async list(signal: AbortSignal): Promise<Tool[]> {
    const stale = new Set(this.#stale);
    this.#stale.clear();
    const listed = await Promise.all(
      [...this.#byName].map(async ([name, { server, tool }]) => {
        // What is known from an earlier run is good enough, and starts no server; what changed since is read again.
        const known = stale.has(server) ? undefined : this.#proxy.visibleTools(server);
        const info = known ? known.find((each) => each.name === tool) : await this.#find(server, tool, signal);
        const definition = info && { ...info, name };
        return isSpecType.Tool(definition) ? [definition] : [];
      }),
    );
    return listed.flat();
  }

  call(name: string, args: unknown, options: IMcpCallOptions & { signal: AbortSignal }): Promise<IMcpProxyResult> {
    const target = this.#byName.get(name);
    return this.#proxy.run({ ...target, args }, options);
  }

  async #find(server: string, tool: string, signal: AbortSignal): Promise<IMcpToolInfo | undefined> {
    const answer = await this.#proxy.perform({ kind: 'describe', tool, server }, { signal });
    return answer.kind === 'described' ? answer.tool.tool : undefined;
  }
}

/** `server__tool`; a digest tells those apart whose names had to be changed to be accepted. */
export function exposedName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const name = plain.replace(/[^A-Za-z0-9_-]/g, '_');
  if (name === plain && name.length <= MAX_NAME_LENGTH) return name;
  return nameWithDigest(name, { server, tool });
}

function nameWithDigest(name: string, { server, tool }: { readonly server: string; readonly tool: string }): string {
  const digest = createHash('sha256').update(`${server}/${tool}`).digest('hex').slice(0, 8);
  return `${name.slice(0, MAX_NAME_LENGTH - 9)}_${digest}`;
}
