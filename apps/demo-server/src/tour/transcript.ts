/** Prints the tour so that a newcomer can follow it: chapters, what the agent does, what comes back. */

export interface Transcript {
  /** Begins a part of the tour and says what it shows. */
  chapter(title: string, explanation: string): void;
  /** A call that the agent (or the operator) makes. */
  call(who: 'agent' | 'operator', text: string): void;
  /** What came back, indented; long texts are cut. */
  answer(text: string): void;
  /** What to notice. */
  note(text: string): void;
}

const MAX_LINES = 14;
const MAX_COLUMNS = 118;

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
        print(`            ‹ ${line.length > MAX_COLUMNS ? `${line.slice(0, MAX_COLUMNS)}…` : line}`);
      }
      if (lines.length > MAX_LINES) print(`            ‹ … ${lines.length - MAX_LINES} more lines`);
    },
    note: (text) => print(`   → ${text}`),
  };
}
