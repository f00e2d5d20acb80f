/** Attaches a gate to an MCP server of either SDK generation. */
export * from './mcp/index.js';
