/** What must not leave: the secrets of one server, those of its entry and those that are learnt while it is used. */
import type { UpstreamConfig } from './config.js';
import { isCredentialName, type SecretForm, SHORTEST_SECRET, secretForms, secretsOf } from './secret-values.js';

export type Redactor = (text: string) => string;

/** Everything that one server was trusted with. */
export interface Secrets {
  /** Takes all of it out of what a person or a log gets: errors, states, log lines, stderr. */
  readonly redact: Redactor;
  /**
   * Takes credentials out of what a model gets: results and definitions. The other values of an entry (`MODE=filesystem`) may be
   * what a result is about, so they stay there.
   */
  readonly redactCredentials: Redactor;
  /** Whether `redactCredentials` has anything to look for. */
  readonly hasCredentials: boolean;
  /** Remembers what was handed out or is about to be sent. The name of its header or field tells what it is. */
  learn(name: string, value: string): void;
}

/** In a result, what is shorter may well be a word. */
const SHORTEST_CREDENTIAL = 16;
/** Tokens are renewed, and callers come and go: of those that were learnt, so many are kept, the last ones used. */
const MAX_LEARNT = 256;

type Forms = readonly SecretForm[];

/** The secrets of a server; `learn` adds to those of its entry. */
export function createSecrets(config: UpstreamConfig, maxLearnt: number = MAX_LEARNT): Secrets {
  const own = secretsOf(config).flatMap(({ name, value }) => secretForms(name, value));
  // Apart, since what is new with every request (a proof, the id of a trace) would push out every token.
  const learnt = { credentials: new Map<string, Forms>(), others: new Map<string, Forms>() };
  let known: { readonly all: readonly string[]; readonly credentials: readonly string[] } | undefined;
  const values = (): NonNullable<typeof known> => {
    known ??= valuesOf([own, ...learnt.credentials.values(), ...learnt.others.values()].flat());
    return known;
  };
  return {
    redact: (text) => without(text, values().all, SHORTEST_SECRET),
    redactCredentials: (text) => without(text, values().credentials, SHORTEST_CREDENTIAL),
    get hasCredentials() {
      return values().credentials.length > 0;
    },
    learn(name, value) {
      const kept = isCredentialName(name) ? learnt.credentials : learnt.others;
      const before = kept.get(value);
      kept.delete(value);
      kept.set(value, before ?? secretForms(name, value));
      if (before) return;
      const [oldest] = kept.keys();
      if (kept.size > maxLearnt && oldest !== undefined) kept.delete(oldest);
      known = undefined;
    },
  };
}

function valuesOf(forms: Forms) {
  const longEnough = (chosen: Forms, shortest: number): string[] => [
    ...new Set(chosen.map(({ text }) => text).filter(({ length }) => length >= shortest)),
  ];
  return {
    all: longEnough(forms, SHORTEST_SECRET),
    credentials: longEnough(
      forms.filter(({ isCredential }) => isCredential),
      SHORTEST_CREDENTIAL,
    ),
  };
}

/** Every place of every value is found first, then taken out: of values that overlap or hold one another nothing is left. */
function without(text: string, values: readonly string[], shortest: number): string {
  if (text.length < shortest) return text;
  const places: [start: number, end: number][] = [];
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
      places.push([at, at + value.length]);
  }
  if (places.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of places.sort(([a], [b]) => a - b)) {
    if (from >= end) parts.push(text.slice(end, from), '[secret]');
    end = Math.max(end, to);
  }
  return parts.join('') + text.slice(end);
}
