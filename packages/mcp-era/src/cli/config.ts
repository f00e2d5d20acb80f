/** The `mcpServers` config of desktop hosts and editors, read as transports. Untrusted: whatever is wrong is named. */
import { isObject } from '../is-object.js';
import type { MCPTransportUnion } from '../types.js';

/** The server, or what is wrong with its entry. */
export type ConfiguredServer =
  | { readonly name: string; readonly transport: MCPTransportUnion }
  | { readonly name: string; readonly problem: string };

/** @throws {TypeError} when the text is no config at all */
export function parseServersConfig(text: string): ConfiguredServer[] {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw new TypeError('the config is no JSON', { cause: error });
  }
  const servers = isObject(config) ? (config.mcpServers ?? config.servers) : undefined;
  if (!isObject(servers)) throw new TypeError('the config has no "mcpServers" object');
  return Object.entries(servers).map(([name, entry]) => readServer(name, entry));
}

function readServer(name: string, entry: unknown): ConfiguredServer {
  const problem = (text: string): ConfiguredServer => ({ name, problem: `mcpServers.${name}${text}` });
  if (!isObject(entry)) return problem(' is no object');
  const { command, args = [], env = {}, cwd, url, headers = {}, type } = entry;
  if (typeof command === 'string' && command) {
    if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string'))
      return problem('.args is no list of strings');
    if (!isTexts(env)) return problem('.env is no object of strings');
    if (cwd !== undefined && typeof cwd !== 'string') return problem('.cwd is no string');
    return { name, transport: { type: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) } };
  }
  if (typeof url === 'string') {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) return problem('.url is no http(s) URL');
    if (!isTexts(headers)) return problem('.headers is no object of strings');
    return {
      name,
      transport: { type: type === 'sse' || type === 'http-sse' ? 'http-sse' : 'streamable-http', url, headers },
    };
  }
  return problem(' has neither command nor url');
}

const isTexts = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');
