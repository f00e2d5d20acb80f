/** The canonical text of a state value, and back: `cart.full`, or of parallel regions `checkout.(cart.full|pay.open)`. */

/** XState's state value: the name of a child, or children by name. */
export type Value = string | { readonly [child: string]: Value | undefined };

/** The text of a value. Equal values have equal texts, whatever the order of their keys. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return escapeName(value);
  const parts = Object.keys(value)
    .sort()
    .map((key) => {
      const child = value[key];
      // An atomic region has an empty object for a value.
      const below = child === undefined ? '' : textOf(child);
      return below === '' ? escapeName(key) : `${escapeName(key)}.${below}`;
    });
  return parts.length === 1 ? String(parts[0]) : parts.length === 0 ? '' : `(${parts.join('|')})`;
}

/**
 * The value of a text, `undefined` where it is none. `isRegion` tells by path which names are atomic regions of a parallel
 * state: XState writes `{ full: {} }` for those, and `'full'` for any other last name.
 */
export function parseStateText(text: string, isRegion: (path: readonly string[]) => boolean): Value | undefined {
  let at = 0;
  const value = parse([]);
  return at === text.length ? value : undefined;

  function parse(path: readonly string[]): Value | undefined {
    if (text[at] !== '(') return parsePath(path);
    const regions: Record<string, Value> = Object.create(null);
    do {
      at += 1;
      const region = parsePath(path);
      if (region === undefined) return undefined;
      Object.assign(regions, typeof region === 'string' ? { [region]: {} } : region);
    } while (text[at] === '|');
    if (text[at] !== ')') return undefined;
    at += 1;
    return regions;
  }

  function parsePath(path: readonly string[]): Value | undefined {
    const name = parseName();
    if (name === '') return undefined;
    const here = [...path, name];
    if (text[at] !== '.') return isRegion(here) ? { [name]: {} } : name;
    at += 1;
    const below = parse(here);
    return below === undefined ? undefined : { [name]: below };
  }

  function parseName(): string {
    let name = '';
    for (; at < text.length && !'.|()'.includes(text[at] ?? ''); at += 1) {
      if (text[at] === '\\') at += 1;
      name += text[at] ?? '';
    }
    return name;
  }
}

/** The text of a path of names. */
export function pathText(path: readonly string[]): string {
  return path.map(escapeName).join('.');
}

/** Whether the value is in the state at the path, or below it. */
export function matches(value: Value, [name, ...below]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (typeof value === 'string') return value === name && below.length === 0;
  return Object.hasOwn(value, name) && matches(value[name] ?? {}, below);
}

/** The names of a path text. */
export function pathOf(text: string): string[] {
  const names: string[] = [''];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '.') names.push('');
    else {
      if (text[at] === '\\') at += 1;
      names[names.length - 1] += text[at] ?? '';
    }
  }
  return names;
}

function escapeName(name: string): string {
  return name.replace(/[.|()\\]/g, '\\$&');
}
