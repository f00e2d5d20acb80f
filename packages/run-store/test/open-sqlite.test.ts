import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentRunState, createRunStore, newAgentRunId } from '../src/index.js';
import { openSqlite } from '../src/sqlite.js';
import { aPausedRun } from './support/runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'interlock-sqlite-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('openSqlite', () => {
  it.skipIf(process.platform === 'win32')('makes files that only their owner can read', async () => {
    const { backend, close } = await openSqlite({ path: join(folder, 'runs.db') });
    await createRunStore<AgentRunState>({ backend }).store('run', aPausedRun());
    const files = readdirSync(folder).sort();
    expect(files).toEqual(['runs.db', 'runs.db-shm', 'runs.db-wal']);
    for (const file of files) expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600]);
    close();
  });

  it.skipIf(process.platform === 'win32')(
    'makes it for its owner behind a link too, and keeps the mode of a file that is there',
    async () => {
      symlinkSync(join(folder, 'target.db'), join(folder, 'link.db'));
      writeFileSync(join(folder, 'shared.db'), '', { mode: 0o640 });
      for (const name of ['link.db', 'shared.db']) {
        const { close } = await openSqlite({ path: join(folder, name) });
        close();
      }
      const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777;
      expect([modeOf('target.db'), modeOf('shared.db')]).toEqual([0o600, 0o640]);
    },
  );

  it.each(['file:runs.db', 'libsql://example.com', '', undefined, new URL('file:///runs.db')])(
    'says that %s is no path, and makes nothing',
    async (path) => {
      await expect(openSqlite({ path: path as string })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/`path` must be the path of a file/),
      });
    },
  );

  it.skipIf(process.platform === 'win32')('says of a pipe that it is no file, and does not wait for it', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(openSqlite({ path })).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringMatching(/pipe" cannot be opened: it is no file/),
    });
  });

  it('says of a disk that is full that it is full, whatever step meets it', async () => {
    const { backend, database, close } = await openSqlite({ path: join(folder, 'runs.db') });
    const runs = createRunStore<string>({ backend, compression: 'none' });
    database.exec('PRAGMA max_page_count = 14');
    for (const ifAbsent of [false, true]) {
      await expect(runs.store(newAgentRunId(), 'x'.repeat(200_000), { ifAbsent })).rejects.toMatchObject({
        code: 'BACKEND_REFUSED',
        message: expect.stringContaining('full'),
      });
    }
    await runs.store('small', 'x', { ifAbsent: true });
    expect(await runs.consume('small')).toBe('x');
    close();
  });

  it('opens again what it has made, with what is in it', async () => {
    const path = join(folder, 'runs.db');
    const first = await openSqlite({ path });
    await createRunStore<AgentRunState>({ backend: first.backend }).store('run', aPausedRun());
    first.close();
    const second = await openSqlite({ path });
    expect(await createRunStore<AgentRunState>({ backend: second.backend }).load('run')).toEqual(aPausedRun());
    second.close();
  });

  it('says of a file that is no database which file it is and what to do, and leaves it', async () => {
    const path = join(folder, 'notes.txt');
    const content =
      'These are notes, and they are long enough to be read as the header of a database, which they are not.\n';
    writeFileSync(path, content.repeat(20));
    await expect(openSqlite({ path })).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringMatching(/notes\.txt" cannot be opened: .*not a database.* pass another `path`/),
    });
    expect(readFileSync(path, 'utf8')).toBe(content.repeat(20));
    expect(readdirSync(folder)).toEqual(['notes.txt']);
  });

  it('says the same of a folder that is missing', async () => {
    await expect(openSqlite({ path: join(folder, 'missing', 'runs.db') })).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringMatching(/runs\.db" cannot be opened: .*Its folder has to exist/),
    });
  });

  it("says the same of somebody else's database whose table has our name", async () => {
    const path = join(folder, 'theirs.db');
    const theirs = new Database(path);
    theirs.exec('CREATE TABLE interlock_runs (id INTEGER PRIMARY KEY)');
    theirs.close();
    await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    const { close } = await openSqlite({ path, tablePrefix: 'ours_' });
    close();
  });
});
