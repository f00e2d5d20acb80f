/** The data that tools answer with, in the shapes that matter to a notation; the same on every run. */

export interface Shape {
  readonly name: string;
  /** Rows with the same fields, whose values are short: where a table pays. */
  readonly uniform: boolean;
  /** Data with about `count` records. */
  make(count: number): unknown;
}

/** A small repeatable generator of numbers in [0, 1) (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const FIRST = ['Alice', 'Bob', 'Chen', 'Dmitri', 'Elif', 'Fatima', 'Grace', 'Hiro', 'Ines', 'Jonas'];
const LAST = ['Okafor', 'Smith', 'Wang', 'Petrov', 'Yilmaz', 'Haddad', 'Hopper', 'Tanaka', 'Silva', 'Berg'];
const WORDS =
  'the order was shipped late because of a storm in transit and the customer asked for partial refund while our carrier claims delivery on time according to scanned records from their depot'.split(
    ' ',
  );
const CITIES = ['Zürich', '東京', 'São Paulo', 'München', 'Київ', 'القاهرة', 'Reykjavík', '서울'];

class Source {
  readonly #next: () => number;
  constructor(seed: number) {
    this.#next = seeded(seed);
  }
  int(max: number): number {
    return Math.floor(this.#next() * max);
  }
  float(digits: number): number {
    return Number((this.#next() * 1000).toFixed(digits));
  }
  of<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!;
  }
  chance(probability: number): boolean {
    return this.#next() < probability;
  }
  words(count: number): string {
    return Array.from({ length: count }, () => this.of(WORDS)).join(' ');
  }
  date(): string {
    return new Date(1_760_000_000_000 + this.int(40_000_000_000)).toISOString();
  }
  hex(length: number): string {
    return Array.from({ length }, () => this.int(16).toString(16)).join('');
  }
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export const shapes: readonly Shape[] = [
  {
    name: 'rows',
    uniform: true,
    make(count) {
      const s = new Source(1);
      return many(count, (i) => ({
        id: i + 1,
        name: `${s.of(FIRST)} ${s.of(LAST)}`,
        email: `user${i}@example.com`,
        role: s.of(['admin', 'member', 'guest']),
        active: s.chance(0.7),
      }));
    },
  },
  {
    name: 'wide rows',
    uniform: true,
    make(count) {
      const s = new Source(2);
      return many(count, (i) => ({
        order_id: `ORD-${10_000 + i}`,
        customer_id: s.int(5000),
        status: s.of(['paid', 'open', 'refunded']),
        currency: s.of(['EUR', 'USD', 'CHF']),
        net: s.float(2),
        tax: s.float(2),
        gross: s.float(2),
        items: s.int(12),
        carrier: s.of(['DHL', 'UPS', null]),
        express: s.chance(0.2),
        city: s.of(['Berlin', 'Paris', 'Bern']),
        country: s.of(['DE', 'FR', 'CH']),
        created_at: s.date(),
        note: s.chance(0.2) ? s.words(4) : '',
      }));
    },
  },
  {
    name: 'sparse rows',
    uniform: false,
    make(count) {
      const s = new Source(3);
      return many(count, (i) => ({
        id: i,
        title: s.words(3),
        ...(s.chance(0.4) ? { assignee: s.of(FIRST) } : {}),
        ...(s.chance(0.3) ? { due: s.date().slice(0, 10) } : {}),
        ...(s.chance(0.2) ? { labels: [s.of(['bug', 'ux', 'docs'])] } : {}),
        ...(s.chance(0.2) ? { estimate: s.int(13) } : {}),
      }));
    },
  },
  {
    name: 'nested rows',
    uniform: false,
    make(count) {
      const s = new Source(4);
      return {
        total: count,
        items: many(count, (i) => ({
          id: i,
          user: {
            name: s.of(FIRST),
            email: `u${i}@example.com`,
            address: { city: s.of(['Bern', 'Oslo']), zip: `${10000 + s.int(90000)}` },
          },
          tags: many(s.int(4), () => s.of(['new', 'vip', 'eu'])),
          total: s.float(2),
        })),
      };
    },
  },
  {
    name: 'orders with lines',
    uniform: false,
    make(count) {
      const s = new Source(5);
      return many(Math.ceil(count / 3), (i) => ({
        order: i,
        customer: s.of(LAST),
        lines: many(3, (n) => ({ sku: `SKU-${s.int(9999)}`, quantity: 1 + s.int(5), price: s.float(2), line: n })),
      }));
    },
  },
  {
    name: 'nested config',
    uniform: false,
    make(count) {
      const s = new Source(6);
      return Object.fromEntries(
        many(Math.max(1, Math.ceil(count / 6)), (i) => [
          `service_${i}`,
          {
            image: `registry/app-${i}:1.${s.int(20)}`,
            replicas: s.int(5),
            resources: { limits: { cpu: '500m', memory: `${s.int(8)}Gi` }, requests: { cpu: '100m' } },
            env: { LOG_LEVEL: s.of(['info', 'debug']), REGION: 'eu-1' },
            ports: [8080, 9090],
            probes: { live: { path: '/healthz', every: 10 }, ready: null },
          },
        ]),
      );
    },
  },
  {
    name: 'logs',
    uniform: false,
    make(count) {
      const s = new Source(7);
      return many(count, (i) => ({
        ts: s.date(),
        level: s.of(['info', 'warn', 'error']),
        msg: s.words(6 + s.int(5)),
        ...(i % 3 === 0
          ? { http: { method: s.of(['GET', 'POST']), status: s.of([200, 404, 500]), path: `/api/v1/${s.of(WORDS)}` } }
          : {}),
        ...(i % 5 === 0 ? { error: { name: 'TimeoutError', stack: [s.words(3), s.words(4)] } } : {}),
        trace: s.hex(16),
      }));
    },
  },
  {
    name: 'tree',
    uniform: false,
    make(count) {
      const s = new Source(8);
      const node = (size: number, depth: number): unknown =>
        size <= 1
          ? { name: `${s.of(WORDS)}.ts`, size: s.int(9000) }
          : {
              name: s.of(WORDS),
              depth,
              children: many(Math.min(4, size), () => node(Math.floor(size / 4), depth + 1)),
            };
      return node(count, 0);
    },
  },
  {
    name: 'long texts',
    uniform: false,
    make(count) {
      const s = new Source(9);
      return many(Math.max(2, Math.ceil(count / 10)), (i) => ({
        id: i,
        body: `${s.words(120)}.\n\n"${s.words(40)}", he said, and ${s.words(60)}.`,
      }));
    },
  },
  {
    name: 'numbers',
    uniform: false,
    make(count) {
      const s = new Source(10);
      return {
        unit: 'ms',
        samples: many(count * 4, () => s.float(3)),
        buckets: many(count, () => [s.int(1000), s.int(1000)]),
      };
    },
  },
  {
    name: 'unicode',
    uniform: true,
    make(count) {
      const s = new Source(11);
      return many(count, (i) => ({
        id: i,
        city: s.of(CITIES),
        greeting: s.of(['こんにちは、世界', 'Привет, мир', 'مرحبا بالعالم', 'Grüß Gott', '👋🏽 hi 🎉']),
        emoji: s.of(['🎉', '🚀', '❤️']),
      }));
    },
  },
  {
    name: 'one object',
    uniform: false,
    make() {
      return {
        id: 'prj_8f3a',
        name: 'Apollo',
        owner: { id: 7, name: 'Ann' },
        archived: false,
        budget: null,
        tags: ['moon', 'crewed'],
        updated: '2026-11-30T08:00:00Z',
      };
    },
  },
  { name: 'empty list', uniform: false, make: () => [] },
  { name: 'empty object', uniform: false, make: () => ({}) },
  {
    name: 'mixed',
    uniform: false,
    make(count) {
      const s = new Source(12);
      return {
        query: { text: 'late orders', limit: count, filters: { status: ['open', 'late'], from: null } },
        hits: many(count, (i) => ({ id: i, score: s.float(4), title: s.words(5), source: s.of(['crm', 'mail']) })),
        facets: { status: { open: s.int(99), late: s.int(99) }, owners: many(5, () => s.of(FIRST)) },
        warnings: ['index is 3 minutes old', { code: 'PARTIAL', shards: [1, 2] }],
        notes: s.words(30),
      };
    },
  },
  {
    name: 'one odd row',
    uniform: false,
    make(count) {
      const s = new Source(13);
      const rows: Record<string, unknown>[] = many(count, (i) => ({
        id: i,
        name: s.of(FIRST),
        city: s.of(['Bern', 'Oslo']),
      }));
      if (rows.length > 2)
        rows[Math.floor(rows.length * 0.37)] = { id: 'x', name: null, city: 'Rome', extra: { why: 'manual' } };
      return rows;
    },
  },
];

/** A shape at about `bytes` of compact JSON. */
export function shapeOfSize(shape: Shape, bytes: number): unknown {
  const unit = JSON.stringify(shape.make(1000)).length;
  return shape.make(Math.max(1, Math.round((1000 * bytes) / unit)));
}
