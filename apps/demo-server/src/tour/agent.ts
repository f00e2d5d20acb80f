/** The tour's agent: an official client over Streamable HTTP, with the few calls that the tour makes. */
import { once } from 'node:events';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

export interface Agent {
  /** Asks the server which tools there are now. */
  toolNames(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>;
  /** How often the server said that its list changed. */
  listChanges(): number;
  /** Resolves when the server has said so `count` times in all; rejects when it has not within a minute. */
  listChanged(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Connects as a host of the 2025 era would, with a session. */
export async function connectAgent(url: string, { withinMs = 60_000 } = {}): Promise<Agent> {
  const client = new Client({ name: 'interlock-tour', version: '0.1.0' }, { versionNegotiation: { mode: 'legacy' } });
  let changes = 0;
  const changed = new EventTarget();
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
    changed.dispatchEvent(new Event('change'));
  });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
  await client.connect(transport);
  return {
    async toolNames() {
      const { tools } = await client.listTools();
      return tools.map((tool) => tool.name);
    },
    call: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
    listChanges: () => changes,
    async listChanged(count) {
      const signal = AbortSignal.timeout(withinMs);
      const late = `The server did not say within ${withinMs / 1000} seconds that its tools changed.`;
      while (changes < count) await once(changed, 'change', { signal }).catch((cause) => reject(late, cause));
    },
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

function reject(message: string, cause: unknown): never {
  throw new Error(message, { cause });
}

function answerOf(result: CallToolResult): ToolAnswer {
  return {
    text: result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n'),
    isError: result.isError === true,
    structured: (result.structuredContent ?? {}) as Record<string, unknown>,
  };
}
