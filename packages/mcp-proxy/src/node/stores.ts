/** The stores of the proxy on disk: pins of tool definitions, tool lists of servers, and answers that were too long. */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { IMcpMetadataStore, McpServerMetadata, OutputOptions } from '../options.js';
import type { IMcpToolPinStore, ServerPins } from '../security/pins.js';
import type { IMcpToolInfo } from '../types.js';
import type { UpstreamConfig } from './config.js';
import { messageOf, StateFileError } from './errors.js';
import type { HostRequestMethod } from './host-channel.js';
import { fileNameOf, readStateFile, writeStateFile } from './state-files.js';

/** Where the configuration of a server is found by its name. */
export type ConfigLookup = (serverName: string) => UpstreamConfig | undefined;

/** Raised when the shape changes: files of another version are not read. */
const METADATA_VERSION = 1;
const PINS_VERSION = 1;
const SPILL_FILE = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.txt$/;
/** Spilled answers are for the conversation at hand, in milliseconds. */
const SPILL_MAX_AGE_MS = 24 * 60 * 60_000;

const pin = z.looseObject({ hash: z.string(), definition: z.looseObject({ name: z.string() }) });
const pinsFile = z.looseObject({
  version: z.literal(PINS_VERSION),
  // As it is: a record of zod leaves out a tool that is called `__proto__`, whose pin would be forgotten.
  tools: z.custom<ServerPins['tools']>(
    (tools) =>
      typeof tools === 'object' &&
      tools !== null &&
      !Array.isArray(tools) &&
      Object.values(tools).every((each) => pin.safeParse(each).success),
  ),
  instructions: z.string().optional(),
});

const metadataFile = z.looseObject({
  version: z.literal(METADATA_VERSION),
  configHash: z.string(),
  tools: z.array(z.looseObject({ name: z.string() })),
  listedAt: z.number(),
  instructions: z.string().optional(),
  ttlMs: z.number().positive().optional(),
});

/**
 * Pins in `<folder>/pins`, one file a server. Pins belong to a name and to what is started or called under it (command and
 * arguments, or URL), so that two projects may use one name for two servers. A file that cannot be understood is an error.
 */
export function createPinStore(folder: string, configOf: ConfigLookup): IMcpToolPinStore {
  const pathOf = (serverName: string): string =>
    join(folder, 'pins', fileNameOf(serverName, identityOf(configOf(serverName))));
  return {
    async load(serverName) {
      const path = pathOf(serverName);
      const data = await readStateFile(path);
      if (data === undefined) return undefined;
      const parsed = pinsFile.safeParse(data);
      if (!parsed.success) {
        const message = `${path} holds no pins of version ${PINS_VERSION}. Restore it, or delete it to trust "${serverName}" anew.`;
        throw new StateFileError('STATE_FILE_CORRUPT', path, message, { cause: parsed.error });
      }
      const { tools, instructions } = parsed.data;
      return { tools, ...(instructions !== undefined && { instructions }) };
    },
    save: (serverName: string, pins: ServerPins) =>
      writeStateFile(pathOf(serverName), { version: PINS_VERSION, ...pins }),
  };
}

/**
 * Tool lists in `<folder>/tools`, one file a server, valid for exactly the configuration under which they were read. What cannot
 * be read is as good as not there: the next connect writes it anew. Servers list other tools to a client that can be asked for
 * input, so what was listed under another `relay` is kept apart.
 */
export function createMetadataStore(
  folder: string,
  configOf: ConfigLookup,
  onError: (error: unknown) => void = () => undefined,
  relay: readonly HostRequestMethod[] = [],
): IMcpMetadataStore {
  const asked = relay.length > 0 ? `\0${[...relay].sort().join()}` : '';
  const pathOf = (serverName: string): string =>
    join(folder, 'tools', fileNameOf(serverName, `${identityOf(configOf(serverName))}${asked}`));
  return {
    async load(serverName) {
      const config = configOf(serverName);
      if (!config) return undefined;
      try {
        const parsed = metadataFile.safeParse(await readStateFile(pathOf(serverName)));
        if (!parsed.success || parsed.data.configHash !== configHash(config)) return undefined;
        const { tools, listedAt, instructions, ttlMs } = parsed.data;
        return {
          // Checked tool by tool by the proxy, as if they came from the server.
          tools: tools as readonly IMcpToolInfo[],
          listedAt,
          ...(instructions !== undefined && { instructions }),
          ...(ttlMs !== undefined && { ttlMs }),
        };
      } catch (error) {
        onError(error);
        return undefined;
      }
    },
    async save(serverName, metadata: McpServerMetadata) {
      const config = configOf(serverName);
      if (!config) return;
      await writeStateFile(pathOf(serverName), {
        version: METADATA_VERSION,
        configHash: configHash(config),
        ...metadata,
        // Some SDKs write 0 where the server said nothing; taken at its word, such a list would never be of use.
        ttlMs: metadata.ttlMs !== undefined && metadata.ttlMs > 0 ? metadata.ttlMs : undefined,
      });
    },
  };
}

/** Puts texts that are too long into `<folder>/spill`; what is older than a day goes. */
export function createSpill(folder: string, now: () => number = Date.now): NonNullable<OutputOptions['spill']> {
  const spillFolder = join(folder, 'spill');
  return async ({ text, toolName }) => {
    const path = join(
      spillFolder,
      `${(toolName ?? 'answer').replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}-${randomUUID()}.txt`,
    );
    await writeStateFile(path, text);
    // Only now is it certain that the folder is ours, and no link to one whose old files are somebody's treasure.
    await removeOldBeside(path, now());
    return `The full text (${Buffer.byteLength(text)} bytes) is in ${path}`;
  };
}

async function removeOldBeside(kept: string, nowMs: number): Promise<void> {
  const folder = dirname(kept);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path === kept || !SPILL_FILE.test(name)) continue;
    try {
      if (nowMs - (await stat(path)).mtimeMs > SPILL_MAX_AGE_MS) await rm(path);
    } catch (error) {
      // Another process may tidy up at the same time; anything else shows up when the new file is written.
      if (!messageOf(error).includes('ENOENT')) throw error;
    }
  }
}

/** What a name stands for: secrets and limits left out, since they change without the server becoming another. */
function identityOf(config: UpstreamConfig | undefined): string {
  if (!config) return '';
  const { endpoint } = config;
  return endpoint.type === 'stdio'
    ? JSON.stringify([endpoint.command, endpoint.args])
    : (endpoint.url.split('?')[0] ?? '');
}

/** Everything that may change what a server lists, credentials included, as a digest. */
function configHash(config: UpstreamConfig): string {
  return createHash('sha256')
    .update(JSON.stringify([config.endpoint, config.protocol]))
    .digest('hex');
}
