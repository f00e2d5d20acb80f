/** Prints the tour so that a newcomer can follow it: chapters, what the agent does, what comes back. */

export interface Transcript {
  /** Begins a part of the tour and says what it shows. */
  chapter(title: string, explanation: string): void;
  /** A call that the agent (or the operator) makes. */
  call(who: 'agent' | 'operator', text: string): void;
  /** What came back, indented and wrapped; very long texts are cut. */
  answer(text: string): void;
  /** What to notice. */
  note(text: string): void;
}

const MAX_LINES = 14;
/** A line is wrapped at this width, and cut after so many rows: a newcomer should read the end of a sentence. */
const COLUMNS = 108;
const MAX_ROWS = 4;

export function transcript(print: (line: string) => void): Transcript {
  let chapters = 0;
  return {
    chapter(title, explanation) {
      chapters += 1;
      print(`\n${chapters}. ${title}\n   ${explanation}`);
    },
    call: (who, text) => print(`\n   ${who === 'agent' ? 'agent   ' : 'operator'} › ${text}`),
    answer(text) {
      const lines = text.split('\n');
      for (const line of lines.slice(0, MAX_LINES)) {
        const [first = '', ...rest] = wrapped(line);
        print(`            ‹ ${first}`);
        for (const row of rest) print(`              ${row}`);
      }
      if (lines.length > MAX_LINES) print(`            ‹ … ${lines.length - MAX_LINES} more lines`);
    },
    note: (text) => print(`   → ${text}`),
  };
}

/** Rows of a line, broken at a space or after a comma where there is one. */
function wrapped(line: string): string[] {
  const rows: string[] = [];
  let left = line;
  while (left.length > COLUMNS && rows.length < MAX_ROWS) {
    const breakAt = Math.max(left.lastIndexOf(' ', COLUMNS), left.lastIndexOf(',', COLUMNS - 1)) + 1;
    const end = breakAt > COLUMNS / 2 ? breakAt : COLUMNS;
    rows.push(left.slice(0, end).trimEnd());
    left = left.slice(end);
  }
  if (rows.length < MAX_ROWS) return [...rows, left];
  return left === '' ? rows : [...rows.slice(0, -1), `${rows.at(-1)} …`];
}
