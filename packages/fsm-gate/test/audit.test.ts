import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signedBytes } from '../src/audit/audit.js';
import { type AuditRecord, type ChainedRecord, createAuditChain, GENESIS, replay } from '../src/audit/index.js';
import { createGateSessions, memoryGateStore } from '../src/sessions/index.js';
import { aCheckoutGate, aClock, settled } from './helpers.js';

const KEY = 'a secret of at least sixteen bytes';

const A_RECORD: AuditRecord = { kind: 'refused', session: 'x', gate: 'checkout', state: 'empty', version: 1, time: 1 };

function aChain(options: Partial<Parameters<typeof createAuditChain>[0]> = {}) {
  const records: ChainedRecord[] = [];
  // Through JSON, as a file would.
  const chain = createAuditChain({
    key: KEY,
    write: (record) => void records.push(JSON.parse(JSON.stringify(record))),
    ...options,
  });
  return { chain, records };
}

async function aDayAtTheShop() {
  const { chain, records } = aChain();
  const clock = aClock();
  const store = memoryGateStore({ now: clock.now });
  const options = { store, now: clock.now, timers: clock, onDecision: chain.append, onError: () => undefined };
  const sessions = createGateSessions({ gate: aCheckoutGate(), ...options });
  await sessions.run('ann', 'cart_pay', {}, () => 1);
  await sessions.run('ann', 'cart_add_item', {}, () => 1);
  await sessions.run('ann', 'cart_view', {}, () => 1);
  await sessions.run('ann', 'cart_checkout', {}, () => ({ isError: true }));
  await sessions.run('ann', 'cart_checkout', {}, () => 1);
  await sessions.run('bob', 'cart_add_item', {}, () => 1);
  await sessions.force('bob', 'awaiting', { by: 'carol', reason: 'helped out' });
  await sessions.send('bob', 'APPROVED', { by: 'carol', reason: 'checked' });
  await sessions.run('dan', 'cart_add_item', {}, () => 1);
  await sessions.end('dan');
  const head = await chain.head();
  return { records, head, sessions };
}

describe('every decision', () => {
  it('reaches onDecision with session, tool, states, version and time', async () => {
    const { records } = await aDayAtTheShop();
    const story = records.map(({ kind, session, tool, state, nextState, version, reason }) =>
      [kind, session, tool, state, nextState, version, reason].filter((part) => part !== undefined).join(' '),
    );
    expect(story).toEqual([
      'refused ann cart_pay empty 0 closed',
      'reserved ann cart_add_item empty 0',
      'committed ann cart_add_item empty has_items 1',
      'allowed ann cart_view has_items 1',
      'reserved ann cart_checkout has_items 1',
      'rolled_back ann cart_checkout has_items 1 its result says so',
      'reserved ann cart_checkout has_items 1',
      'committed ann cart_checkout has_items payment 2',
      'reserved bob cart_add_item empty 0',
      'committed bob cart_add_item empty has_items 1',
      'forced bob has_items awaiting 2 helped out',
      'reserved bob event:APPROVED awaiting 2',
      'committed bob event:APPROVED awaiting confirmed 3 checked',
      'reserved dan cart_add_item empty 0',
      'committed dan cart_add_item empty has_items 1',
      'ended dan has_items 1',
    ]);
    expect(records.every(({ time, gate }) => time === 1_000_000 && gate === 'checkout')).toBe(true);
  });

  it('reaches it in order, and what it throws or rejects with disturbs no call', async () => {
    const errors: unknown[] = [];
    const sessions = createGateSessions({
      gate: aCheckoutGate(),
      onDecision: ((record: AuditRecord) => {
        if (record.kind === 'reserved') throw new Error('thrown');
        return Promise.reject(new Error('rejected'));
      }) as (record: AuditRecord) => void,
      onError: (error) => errors.push(error),
    });
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 1)).kind).toBe('done');
    await settled();
    expect(errors).toMatchObject([{ message: 'thrown' }, { message: 'rejected' }]);
  });
});

describe('a chain', () => {
  it('is linked from the first record to the head', async () => {
    const { records, head } = await aDayAtTheShop();
    expect(records[0]).toMatchObject({ seq: 1, previous: GENESIS });
    for (const [at, record] of records.entries()) if (at > 0) expect(record.previous).toBe(records[at - 1]?.hash);
    expect(head).toEqual({ seq: records.length, hash: records.at(-1)?.hash });
  });

  it('replayed, tells where every session stands', async () => {
    const { records, head } = await aDayAtTheShop();
    const result = await replay(records, { key: KEY, head, gate: aCheckoutGate() });
    expect(result.badLink).toBeUndefined();
    expect(result.head).toEqual(head);
    expect(Object.fromEntries(result.sessions)).toEqual({
      ann: { state: 'payment', version: 2 },
      bob: { state: 'confirmed', version: 3 },
    });
  });

  it('replayed, agrees with the sessions themselves', async () => {
    const { records, sessions } = await aDayAtTheShop();
    const { sessions: replayed } = await replay(records, { key: KEY });
    for (const [key, { state, version }] of replayed)
      expect(await sessions.inspect(key)).toMatchObject({ state, version });
  });

  it('goes on where an earlier one ended', async () => {
    const first = await aDayAtTheShop();
    const { chain, records } = aChain({ from: first.head });
    const { seq, previous, hash, ...last } = first.records.at(-1)!;
    chain.append({ ...last, kind: 'refused' });
    const head = await chain.head();
    expect((await replay([...first.records, ...records], { key: KEY, head })).badLink).toBeUndefined();
    expect((await replay(records, { key: KEY, head, from: first.head })).badLink).toBeUndefined();
    expect([seq, previous, hash]).toBeDefined();
  });

  it('can hide the keys of sessions, and still tell them apart', async () => {
    const { chain, records } = aChain({ sessions: 'hashed' });
    const sessions = createGateSessions({ gate: aCheckoutGate(), onDecision: chain.append });
    await sessions.run('secret-session-id', 'cart_add_item', {}, () => 1);
    await sessions.run('other-session-id', 'cart_add_item', {}, () => 1);
    const head = await chain.head();
    expect(JSON.stringify(records)).not.toContain('session-id');
    expect((await replay(records, { key: KEY, head })).sessions.size).toBe(2);
  });

  it('that hides keys signs nothing for whoever chooses a key', async () => {
    const { chain, records } = aChain({ sessions: 'hashed' });
    const wanted = { ...A_RECORD, kind: 'forced', nextState: 'confirmed', session: 'x', seq: 1, previous: GENESIS };
    const asSigned = new TextDecoder().decode(signedBytes(wanted));
    chain.append({ ...A_RECORD, session: asSigned });
    await chain.head();
    const forged = { ...wanted, hash: records[0]?.session };
    expect((await replay([forged], { key: KEY })).badLink).toMatchObject({ reason: 'forged' });
  });

  it('whose writer fails says so, and shows the gap', async () => {
    const errors: unknown[] = [];
    const records: ChainedRecord[] = [];
    const chain = createAuditChain({
      key: KEY,
      write: (record) => (record.seq === 2 ? Promise.reject(new Error('disk full')) : void records.push(record)),
      onError: (error) => errors.push(error),
    });
    const sessions = createGateSessions({ gate: aCheckoutGate(), onDecision: chain.append });
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    await sessions.run('ann', 'cart_checkout', {}, () => 1);
    await chain.head();
    expect(errors).toMatchObject([{ message: 'disk full' }]);
    expect((await replay(records, { key: KEY })).badLink).toMatchObject({ index: 1, reason: 'order' });
  });

  it('keeps a link for a record that JSON cannot hold, and says what is missing', async () => {
    const errors: unknown[] = [];
    const { chain, records } = aChain({ onError: (error) => errors.push(error) });
    const circle: { self?: unknown } = {};
    circle.self = circle;
    chain.append(A_RECORD);
    chain.append({ ...A_RECORD, reason: circle as never, fence: 7n as never, version: 2n as never });
    chain.append({ ...A_RECORD, version: 3 });
    const head = await chain.head();
    expect(records.map(({ seq, version, reason }) => [seq, version, reason])).toEqual([
      [1, 1, undefined],
      [2, 2, '(not recorded: JSON cannot hold this object)'],
      [3, 3, undefined],
    ]);
    expect(errors).toHaveLength(1);
    expect(await replay(records, { key: KEY, head })).toMatchObject({ badLink: undefined });
  });

  it('needs a key that is worth the name', () => {
    const code = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
    expect(() => createAuditChain({ key: 'short', write: () => undefined })).toThrow(code);
    expect(() => createAuditChain({ key: new Uint8Array(15), write: () => undefined })).toThrow(code);
    expect(() => createAuditChain({ key: undefined as never, write: () => undefined })).toThrow(code);
  });
});

describe('the first bad link is named', () => {
  it.each<[string, (records: ChainedRecord[]) => unknown[], object]>([
    ['a changed state', (r) => r.with(2, { ...r[2]!, nextState: 'confirmed' }), { index: 2, reason: 'forged' }],
    ['an added field', (r) => r.with(2, { ...r[2]!, by: 'mallory' }), { index: 2, reason: 'forged' }],
    ['a changed hash', (r) => r.with(2, { ...r[2]!, hash: GENESIS }), { index: 2, reason: 'forged' }],
    ['a hash that is none', (r) => r.with(2, { ...r[2]!, hash: 'x' }), { index: 2, reason: 'forged' }],
    ['a removed record', (r) => r.toSpliced(2, 1), { index: 2, reason: 'order' }],
    ['a repeated record', (r) => r.toSpliced(3, 0, r[2]!), { index: 3, reason: 'order' }],
    ['two that were swapped', (r) => r.with(2, r[3]!).with(3, r[2]!), { index: 2, reason: 'order' }],
    ['a beginning that was cut off', (r) => r.slice(2), { index: 0, reason: 'order' }],
    ['something else', (r) => [...r.slice(0, 2), 'text'], { index: 2, reason: 'malformed' }],
    ['null', () => [null], { index: 0, reason: 'malformed' }],
    ['an end that was cut off', (r) => r.slice(0, -1), { index: 15, reason: 'truncated' }],
    ['everything cut off', () => [], { index: 0, reason: 'truncated' }],
  ])('%s', async (_, spoil, badLink) => {
    const { records, head } = await aDayAtTheShop();
    const result = await replay(spoil(records), { key: KEY, head });
    expect(result.badLink).toMatchObject(badLink);
    expect(result.badLink?.message).not.toBe('');
  });

  it('a chain that was written with another key', async () => {
    const { records } = await aDayAtTheShop();
    const other = await replay(records, { key: 'another secret of sixteen bytes' });
    expect(other.badLink).toMatchObject({ index: 0, reason: 'forged' });
  });

  it('a move that the machine would not make, though it is well signed', async () => {
    const { chain, records } = aChain();
    const record = { kind: 'committed', session: 'ann', gate: 'checkout', event: 'ADD_ITEM', time: 0 } as const;
    chain.append({ ...record, state: 'empty', nextState: 'has_items', version: 1 });
    chain.append({ ...record, state: 'has_items', nextState: 'confirmed', version: 2 });
    await chain.head();
    const result = await replay(records, { key: KEY, gate: aCheckoutGate() });
    expect(result.badLink).toMatchObject({ index: 1, reason: 'impossible' });
    expect(result.sessions.get('ann')).toEqual({ state: 'has_items', version: 1 });
  });

  it.each([
    ['a version that was there before', { state: 'has_items', nextState: 'has_items', version: 1 }],
    ['a beginning in another state', { state: 'payment', nextState: 'has_items', version: 2 }],
    ['no state to go to', { state: 'has_items', version: 2 }],
  ])('a move that cannot follow: %s', async (_, second) => {
    const { chain, records } = aChain();
    const record = { kind: 'committed', session: 'ann', gate: 'checkout', time: 0 } as const;
    chain.append({ ...record, state: 'empty', nextState: 'has_items', version: 1 });
    chain.append({ ...record, ...second });
    await chain.head();
    expect((await replay(records, { key: KEY })).badLink).toMatchObject({ index: 1, reason: 'impossible' });
  });

  it('whatever byte of whatever record is changed', async () => {
    const { records, head } = await aDayAtTheShop();
    const lines = records.map((record) => JSON.stringify(record));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(lines.length - 1),
        fc.nat(),
        fc.integer({ min: 32, max: 126 }),
        async (at, place, code) => {
          const line = lines[at]!;
          const spot = place % line.length;
          const changed = line.slice(0, spot) + String.fromCharCode(code) + line.slice(spot + 1);
          const parsed = lines.map((text, index) => {
            try {
              return JSON.parse(index === at ? changed : text);
            } catch {
              return text;
            }
          });
          const same = JSON.stringify(parsed[at]) === line;
          const { badLink } = await replay(parsed, { key: KEY, head });
          expect(badLink?.index).toBe(same ? undefined : at);
        },
      ),
      { numRuns: 200 },
    );
  });
});
