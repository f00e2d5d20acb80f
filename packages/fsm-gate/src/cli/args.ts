/** Reads the command line. */

/** What was asked for. */
export type Command =
  | {
      readonly kind: 'verify';
      readonly file: string;
      /** The registered tool names, if given. */
      readonly tools: readonly string[] | undefined;
      /** What fails the run: errors only, or warnings too. */
      readonly failOn: 'error' | 'warning';
      readonly format: 'text' | 'json';
    }
  | {
      readonly kind: 'diagram';
      readonly file: string;
      readonly current: string | undefined;
      readonly direction: 'LR' | 'RL' | 'TB' | 'BT' | undefined;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'unusable'; readonly reason: string };

export const USAGE: string = `Usage:
  fsm-gate verify <file> [--tools name,name] [--strict] [--json]
  fsm-gate diagram <file> [--current state] [--direction LR|RL|TB|BT]
  fsm-gate --version

<file> is JSON (a machine config, with "tools": { "name": { "states": [...], "event": "..." } } for the bindings),
or a JavaScript module whose default export, or export named gate, machine or config, is one of these:
  a StateMachineGate or a gate of machineGate(), with its tools bound;
  an XState machine, or a machine config; an export named tools binds its tools.

  --tools      the names that the server registers; bindings to other names are errors
  --strict     warnings fail too
  --json       findings as JSON
  --current    the state to mark
  --direction  where the diagram runs to

Exit codes: 0 sound or drawn; 1 errors found (with --strict also warnings); 2 the file or the command line cannot be used.
`;

/** Pure. */
export function parseArgs(argv: readonly string[]): Command {
  const [command, ...rest] = argv;
  if (command === undefined || command === 'help' || argv.includes('--help') || argv.includes('-h')) {
    return command === undefined ? unusable('a command is missing') : { kind: 'help' };
  }
  if (command === '--version') return { kind: 'version' };
  if (command !== 'verify' && command !== 'diagram') return unusable(`there is no command "${command}"`);
  const valued = command === 'verify' ? ['--tools'] : ['--current', '--direction'];
  const switches = command === 'verify' ? ['--strict', '--json'] : [];
  const values = new Map<string, string>();
  const set = new Set<string>();
  const files: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    const [name = '', inline] = word.startsWith('--') ? splitOnce(word, '=') : [word];
    if (valued.includes(name)) {
      const value = inline ?? rest[++at];
      if (value === undefined) return unusable(`${name} needs a value`);
      values.set(name, value);
    } else if (switches.includes(word)) set.add(word);
    else if (word.startsWith('-')) return unusable(`${command} knows no option ${word}`);
    else files.push(word);
  }
  const [file, surplus] = files;
  if (file === undefined) return unusable(`${command} needs a file`);
  if (surplus !== undefined) return unusable(`${command} takes one file; "${surplus}" is another`);
  if (command === 'diagram') {
    const direction = values.get('--direction');
    if (direction !== undefined && !isDirection(direction)) return unusable('--direction is LR, RL, TB or BT');
    return { kind: 'diagram', file, current: values.get('--current'), direction };
  }
  return {
    kind: 'verify',
    file,
    tools: values
      .get('--tools')
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    failOn: set.has('--strict') ? 'warning' : 'error',
    format: set.has('--json') ? 'json' : 'text',
  };
}

function unusable(reason: string): Command {
  return { kind: 'unusable', reason };
}

function splitOnce(word: string, separator: string): [string, string | undefined] {
  const at = word.indexOf(separator);
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function isDirection(value: string): value is 'LR' | 'RL' | 'TB' | 'BT' {
  return value === 'LR' || value === 'RL' || value === 'TB' || value === 'BT';
}
