import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunStoreError } from '../src/errors.js';
import { nodeRuntime } from '../src/node.js';
import { type Bytes, type RunRuntime, webRuntime } from '../src/runtime.js';
import { checksumOf, setCrc } from '../src/seal/envelope.js';
import { createSealer, type Opened, type Sealer, type SealerOptions } from '../src/seal/sealer.js';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const ring = { activeKeyId: 'k1', keys: { k1: key(1) } };

interface AsyncSealer {
  seal(...args: Parameters<Sealer['seal']>): Promise<Bytes>;
  open(...args: Parameters<Sealer['open']>): Promise<Opened>;
}

function sealer(options: Partial<SealerOptions> = {}): AsyncSealer {
  const made = createSealer({
    runtime: nodeRuntime,
    maxBytes: 1 << 20,
    maxInflatedBytes: 1 << 20,
    schemaVersion: 1,
    compression: 'none',
    ...options,
  });
  return { seal: async (name, value) => made.seal(name, value), open: async (name, bytes) => made.open(name, bytes) };
}

const conversation = {
  messages: Array.from({ length: 200 }, (_, i) => ({ role: 'user', content: `message ${i % 7}` })),
};

const kinds: Record<string, Partial<SealerOptions>> = {
  plain: {},
  compressed: { compression: { thresholdBytes: 1 } },
  encrypted: { encryption: ring },
  'compressed and encrypted': { compression: { thresholdBytes: 1 }, encryption: ring },
};

describe.each(Object.entries(kinds))('a sealed run, %s', (_, options) => {
  it('opens to what was sealed, on either runtime', async () => {
    const runtimes: RunRuntime[] = [nodeRuntime, webRuntime];
    for (const writer of runtimes) {
      for (const reader of runtimes) {
        const bytes = await sealer({ ...options, runtime: writer }).seal('run', conversation);
        const opened = await sealer({ ...options, runtime: reader }).open('run', bytes);
        expect(opened).toEqual({ value: conversation, schemaVersion: 1 });
      }
    }
  });

  it('begins with a stamp of its own every time', async () => {
    const [a, b] = await Promise.all([sealer(options).seal('run', 1), sealer(options).seal('run', 1)]);
    expect(a.slice(0, 16)).not.toEqual(b.slice(0, 16));
  });

  it('is never read wrongly: a changed, cut or lengthened byte is a typed error or changes nothing', async () => {
    const bytes = await sealer(options).seal('run', conversation);
    const codes = ['RUN_CORRUPT', 'RUN_VERSION_UNKNOWN', 'RUN_UNREADABLE', 'RUN_TOO_LARGE'];
    const damage = fc.oneof(
      fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, flip]) => {
        const copy = bytes.slice();
        copy[at]! ^= flip;
        return copy;
      }),
      fc.nat(bytes.length - 1).map((length) => bytes.slice(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 9 }).map((tail) => new Uint8Array([...bytes, ...tail])),
      fc.uint8Array({ maxLength: 100 }),
    );
    await fc.assert(
      fc.asyncProperty(damage, async (damaged) => {
        const error = await sealer(options)
          .open('run', damaged)
          .then(() => undefined)
          .catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(RunStoreError);
        expect(codes).toContain((error as RunStoreError).code);
      }),
      { numRuns: 300 },
    );
  });
});

describe('encryption', () => {
  it('hides the state', async () => {
    const bytes = await sealer({ encryption: ring }).seal('run', { secret: 'open sesame' });
    expect(new TextDecoder('latin1').decode(bytes)).not.toContain('sesame');
  });

  it('binds a run to its name: moved to another id it does not open', async () => {
    const bytes = await sealer({ encryption: ring }).seal('prefix:{a}', 1);
    await expect(sealer({ encryption: ring }).open('prefix:{b}', bytes)).rejects.toMatchObject({
      code: 'RUN_UNREADABLE',
    });
  });

  it('reads with any key of the ring and writes with the active one', async () => {
    const old = await sealer({ encryption: ring }).seal('run', 'old');
    const rotated = { activeKeyId: 'k2', keys: { k1: key(1), k2: key(2) } };
    expect((await sealer({ encryption: rotated }).open('run', old)).value).toBe('old');
    const fresh = await sealer({ encryption: rotated }).seal('run', 'fresh');
    await expect(sealer({ encryption: ring }).open('run', fresh)).rejects.toMatchObject({
      code: 'RUN_UNREADABLE',
      message: expect.stringContaining('"k2"'),
    });
  });

  it('refuses a run that is not encrypted, unless told that old ones are about', async () => {
    const planted = await sealer().seal('run', { forged: true });
    await expect(sealer({ encryption: ring }).open('run', planted)).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    const lenient = sealer({ encryption: { ...ring, plaintext: 'accept' } });
    expect((await lenient.open('run', planted)).value).toEqual({ forged: true });
  });

  it('takes keys in base64, and names a bad one by its id alone', () => {
    const good = { activeKeyId: 'k', keys: { k: Buffer.from(key(3)).toString('base64') } };
    expect(() => sealer({ encryption: good })).not.toThrow();
    for (const bad of ['c2VjcmV0', 'not base64!', new Uint8Array(31)]) {
      const encryption = { activeKeyId: 'k', keys: { k: bad } };
      expect(() => sealer({ encryption })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION', message: expect.not.stringContaining(String(bad)) }),
      );
    }
    expect(() => sealer({ encryption: { activeKeyId: 'x', keys: { k: key(1) } } })).toThrow(/activeKeyId/);
  });
});

describe('compression', () => {
  it('begins at the threshold, and only where it helps', async () => {
    const small = sealer({ compression: { thresholdBytes: 4096 } });
    const squeezed = sealer({ compression: { thresholdBytes: 16 } });
    expect((await squeezed.seal('run', conversation)).length).toBeLessThan(
      (await small.seal('run', 'x')).length + 1500,
    );
    const noise = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) % 251)).toString('base64');
    expect((await squeezed.seal('run', noise)).length).toBeLessThanOrEqual((await sealer().seal('run', noise)).length);
  });

  it('refuses a bomb before it has gone off', async () => {
    const bomb = await sealer({ compression: {}, maxBytes: 1 << 26 }).seal('run', 'a'.repeat(1 << 25));
    expect(bomb.length).toBeLessThan(1 << 18);
    for (const runtime of [nodeRuntime, webRuntime]) {
      await expect(sealer({ runtime }).open('run', bomb)).rejects.toMatchObject({ code: 'RUN_TOO_LARGE' });
    }
    // One that lies about its size is stopped at the size it claims.
    new DataView(bomb.buffer).setUint32(24, 1000);
    setCrc(bomb, checksumOf(bomb, webRuntime.crc32));
    for (const runtime of [nodeRuntime, webRuntime]) {
      await expect(sealer({ runtime }).open('run', bomb)).rejects.toMatchObject({ code: 'RUN_CORRUPT' });
    }
  });

  it('speaks zstd where the runtime does, and says what is missing where it does not', async () => {
    const zstd = sealer({ compression: { format: 'zstd', thresholdBytes: 1 } });
    if ('zstdCompressSync' in zlib) {
      expect((await zstd.open('run', await zstd.seal('run', conversation))).value).toEqual(conversation);
    } else {
      await expect(zstd.seal('run', conversation)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    }
    const web = sealer({ runtime: webRuntime, compression: { format: 'zstd', thresholdBytes: 1 } });
    await expect(web.seal('run', conversation)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('the envelope', () => {
  it('has a limit that names both sizes', async () => {
    await expect(sealer({ maxBytes: 100 }).seal('run', 'x'.repeat(200))).rejects.toMatchObject({
      code: 'RUN_TOO_LARGE',
      bytes: 202,
      maxBytes: 100,
    });
  });

  it('of version 1 stays readable: these bytes were written by the first release', async () => {
    const plain = Buffer.from(FIRST_PLAIN, 'base64');
    expect((await sealer().open('run', plain)).value).toEqual({ state: { n: 1, d: new Date(0) } });
    const sealed = Buffer.from(FIRST_SEALED, 'base64');
    expect((await sealer({ encryption: ring }).open('run', sealed)).value).toEqual({ state: { n: 1, d: new Date(0) } });
  });

  it('of a later version is refused, not guessed at', async () => {
    const bytes = await sealer().seal('run', 1);
    bytes[2] = 2;
    await expect(sealer().open('run', bytes)).rejects.toMatchObject({ code: 'RUN_VERSION_UNKNOWN' });
  });

  it('has the same checksum in software as in zlib', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(0xffffffff), (bytes, seed) => {
        expect(webRuntime.crc32(bytes, seed)).toBe(nodeRuntime.crc32(bytes, seed));
      }),
    );
  });
});

const FIRST_PLAIN =
  'SVIBAQR1JCDN50T3Y6xqpQAAAAEAAAAtAAAALVzAThoAAAAAKXsic3RhdGUiOnsibiI6MSwiZCI6eyIkOiI6ImRhdGUiLCJ2IjowfX19';
const FIRST_SEALED =
  'SVIBESZ0pvCVhGmNivbtZQAAAAEAAAA9AAAALQAAAAACazGKNeqfBn2k8+yvyRp/BWnYzCHi/slKcUpdr5wKdxOiU8t91LM7dKazzhWjTKEn2B/22NuRE/d2/y8+0upT';
