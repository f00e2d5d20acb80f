import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerPins } from '../../src/index.js';
import {
  createMetadataStore,
  createPinStore,
  createSpill,
  login,
  storedOAuthProvider,
  type UpstreamConfig,
} from '../../src/node/index.js';
import { readStateFile, writeStateFile } from '../../src/node/state-files.js';
import { protectedUpstream } from '../fixtures/authorization-server.js';
import { aFolder, configOf } from '../fixtures/scripted.js';
import { filesIn } from '../fixtures/state-files.js';

const isRoot = process.getuid?.() === 0;
const SOMEBODY_ELSE = 12_345;
const pins: ServerPins = { tools: { a: { hash: 'h', definition: { name: 'a' } } } };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe.skipIf(process.platform === 'win32')('files of ours in a folder that others can write to', () => {
  it('are for this user alone, whatever they are and whatever their folder was', async () => {
    const upstream = await protectedUpstream();
    closers.push(() => upstream.close());
    const folder = await aFolder();
    for (const name of ['oauth', 'pins', 'tools', 'spill']) {
      await mkdir(join(folder, name));
      await chmod(join(folder, name), 0o777);
    }
    const configs = configOf({ up: { url: upstream.url } });
    const config = configs.get('up') as UpstreamConfig;
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    await createPinStore(folder, (name) => configs.get(name)).save('up', pins);
    await createMetadataStore(folder, (name) => configs.get(name)).save('up', { tools: [], listedAt: 1 });
    await createSpill(folder)({ text: 'long', serverName: 'up', toolName: 'a' });
    const files = await filesIn(folder);
    expect(files).toHaveLength(4);
    for (const { path } of files) expect((await stat(path)).mode & 0o777, path).toBe(0o600);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o700);
  });

  it('are not written through a link, neither the folder nor the file', async () => {
    const [folder, elsewhere] = [await aFolder(), await aFolder()];
    await writeFile(join(elsewhere, 'target'), 'theirs');
    await symlink(elsewhere, join(folder, 'pins'));
    await expect(createPinStore(folder, () => undefined).save('up', pins)).rejects.toThrow('is a link');
    expect(await readdir(elsewhere)).toEqual(['target']);
    const path = join(folder, 'mine', 'file.json');
    await mkdir(join(folder, 'mine'));
    await symlink(join(elsewhere, 'target'), path);
    await writeStateFile(path, { mine: true });
    // The link is replaced, what it pointed to is as it was.
    expect(await readFile(join(elsewhere, 'target'), 'utf8')).toBe('theirs');
    expect(await readStateFile(path)).toEqual({ mine: true });
  });

  it('are not read through a link: pins so planted fail closed, tokens are an error', async () => {
    const [folder, elsewhere] = [await aFolder(), await aFolder()];
    const config = configOf({ up: { url: 'https://up.example/mcp' } }).get('up') as UpstreamConfig;
    await createPinStore(elsewhere, () => config).save('up', pins);
    await writeStateFile(join(elsewhere, 'oauth', 'x.json'), {});
    for (const name of ['pins', 'oauth']) await symlink(join(elsewhere, name), join(folder, name));
    const refused = { code: 'STATE_FILE_UNREADABLE', message: expect.stringContaining('is a link') };
    await expect(createPinStore(folder, () => config).load('up')).rejects.toMatchObject(refused);
    await expect(storedOAuthProvider(config, folder)).rejects.toMatchObject(refused);
    const [file] = await filesIn(join(elsewhere, 'pins'));
    const linked = join(folder, 'own', 'pins.json');
    await mkdir(join(folder, 'own'));
    await symlink(file?.path ?? '', linked);
    await expect(readStateFile(linked)).rejects.toMatchObject(refused);
  });

  it('that are old go, but nothing else does, least of all behind a link', async () => {
    const [folder, elsewhere] = [await aFolder(), await aFolder()];
    const twoDaysLater = (): number => Date.now() + 2 * 24 * 60 * 60_000;
    const request = { text: 'long', serverName: 'up', toolName: 'a' };
    await createSpill(elsewhere)(request);
    await writeFile(join(elsewhere, 'spill', 'thesis.txt'), 'years of work');
    await symlink(join(elsewhere, 'spill'), join(folder, 'spill'));
    await expect(createSpill(folder, twoDaysLater)(request)).rejects.toThrow('is a link');
    expect(await readdir(join(elsewhere, 'spill'))).toHaveLength(2);
    const notice = await createSpill(elsewhere, twoDaysLater)(request);
    const left = await readdir(join(elsewhere, 'spill'));
    // The older of ours is gone. The new one is old by that clock, too, but somebody has just been told of it.
    expect(left).toHaveLength(2);
    expect(left).toContain('thesis.txt');
    expect(left.some((name) => notice.includes(name))).toBe(true);
  });

  it.runIf(isRoot)('are not read when somebody else owns them or their folder', async () => {
    const folder = await aFolder();
    const path = join(folder, 'pins', 'a.json');
    await writeStateFile(path, { a: 1 });
    const theirs = { code: 'STATE_FILE_UNREADABLE', message: expect.stringContaining('belongs to user 12345') };
    await chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE);
    await expect(readStateFile(path)).rejects.toMatchObject(theirs);
    await chown(path, 0, 0);
    await chown(join(folder, 'pins'), SOMEBODY_ELSE, SOMEBODY_ELSE);
    await expect(readStateFile(path)).rejects.toMatchObject(theirs);
    await expect(writeStateFile(path, {})).rejects.toMatchObject({ code: 'STATE_FILE_UNWRITABLE' });
  });

  it('that are no files (a device, a folder) are an error, and nobody waits for them', async () => {
    const folder = await aFolder();
    await mkdir(join(folder, 'pins', 'a.json'), { recursive: true });
    await expect(readStateFile(join(folder, 'pins', 'a.json'))).rejects.toThrow('no regular file');
    await expect(readStateFile('/dev/zero')).rejects.toThrow('no regular file');
  });
});

it('pins on disk hold for every name that a tool can have', async () => {
  const folder = await aFolder();
  const store = createPinStore(folder, () => undefined);
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a'.repeat(10_000), '\u202eevil'];
  const tools = Object.fromEntries(names.map((name) => [name, { hash: `hash of ${name}`, definition: { name } }]));
  await store.save('up', { tools });
  const loaded = await store.load('up');
  expect(Object.entries(loaded?.tools ?? {}).map(([name, { hash }]) => [name, hash])).toEqual(
    names.map((name) => [name, `hash of ${name}`]),
  );
});
