/** Fails to compile when a name, a parameter or a result of the contract is lost. Assignability: a superset is welcome. */
import { expectTypeOf, test } from 'vitest';
import {
  aggregateMcpServers,
  formatSchema,
  type IAgentToolDescriptor,
  type IMcpProxyToolOptions,
  type IMcpResource,
  type IMcpServer,
  type IMcpServerProvider,
  type IMcpServerSpec,
  type IMcpToolHandle,
  type IMcpToolInfo,
  type IMcpToolRegistry,
  type IMcpToolResource,
  type MCP_PROXY_TOOL_NAME,
  type McpProxyTool,
  parseProxyArgs,
  serializeToolResult,
} from '../src/index.js';

interface ContractDescriptor {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  execute(args: unknown, signal?: AbortSignal): Promise<string>;
}
interface ContractToolInfo {
  name: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: Record<string, unknown>;
}
interface ContractServer {
  listTools(signal?: AbortSignal): Promise<ContractToolInfo[]>;
  callTool(toolName: string, args: unknown, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
  onToolsChanged?(listener: () => void): () => void;
  onClose?(listener: (reason?: unknown) => void): () => void;
}
interface ContractProvider {
  connect(serverName: string, signal?: AbortSignal): Promise<ContractServer>;
}
interface ContractHandle extends ContractToolInfo {
  serverName: string;
  call(args: unknown, signal?: AbortSignal): Promise<unknown>;
}
interface ContractRegistry {
  resolve(resourceId: string, toolName: string, signal?: AbortSignal): Promise<ContractHandle | undefined>;
}
interface ContractSpec {
  serverName: string;
  resourceIds: string[];
  allowedTools?: string[];
}
interface ContractOptions {
  debugLog?: (line: string) => void;
}

test('the tool can be made from what the contract gives', () => {
  expectTypeOf<[ContractProvider, ContractSpec[], ContractOptions?]>().toExtend<
    ConstructorParameters<typeof McpProxyTool>
  >();
  expectTypeOf<McpProxyTool>().toExtend<ContractRegistry>();
  expectTypeOf<McpProxyTool['asTool']>().toExtend<() => ContractDescriptor>();
  expectTypeOf<McpProxyTool['resolve']>().toExtend<ContractRegistry['resolve']>();
  expectTypeOf<McpProxyTool['closeAll']>().toExtend<() => Promise<void>>();
  expectTypeOf<typeof MCP_PROXY_TOOL_NAME>().toEqualTypeOf<'mcp'>();
});

test('every port is what the contract says, in both directions where a host implements it', () => {
  expectTypeOf<ContractServer>().toExtend<IMcpServer>();
  expectTypeOf<ContractProvider>().toExtend<IMcpServerProvider>();
  expectTypeOf<ContractToolInfo>().toExtend<IMcpToolInfo>();
  expectTypeOf<IMcpToolInfo>().toExtend<ContractToolInfo>();
  expectTypeOf<IMcpServer>().toExtend<ContractServer>();
  expectTypeOf<IMcpServerProvider>().toExtend<ContractProvider>();
  expectTypeOf<IMcpToolHandle>().toExtend<ContractHandle>();
  expectTypeOf<IMcpToolRegistry>().toExtend<ContractRegistry>();
  expectTypeOf<IAgentToolDescriptor>().toExtend<ContractDescriptor>();
  expectTypeOf<ContractDescriptor>().toExtend<IAgentToolDescriptor>();
  expectTypeOf<ContractSpec>().toExtend<IMcpServerSpec>();
  expectTypeOf<IMcpServerSpec>().toExtend<ContractSpec>();
  expectTypeOf<ContractOptions>().toExtend<IMcpProxyToolOptions>();
  expectTypeOf<{ resourceId: string; serverName: string }>().toExtend<IMcpResource>();
  expectTypeOf<{ resourceId: string; serverName: string; toolName: string }>().toExtend<IMcpToolResource>();
});

test('the helpers take and give what the contract says', () => {
  expectTypeOf(aggregateMcpServers).toExtend<
    (
      servers: readonly { resourceId: string; serverName: string }[],
      tools?: readonly { resourceId: string; serverName: string; toolName: string }[],
    ) => ContractSpec[]
  >();
  expectTypeOf(parseProxyArgs).toExtend<
    (args: unknown) => {
      connect?: string;
      describe?: string;
      search?: string;
      tool?: string;
      server?: string;
      args?: unknown;
    }
  >();
  expectTypeOf(formatSchema).toExtend<(schema: unknown, indent?: string) => string>();
  expectTypeOf(serializeToolResult).toExtend<(value: unknown) => string>();
});
