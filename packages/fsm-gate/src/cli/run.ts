/** Carries out a command line. */
import { toMermaid } from '../diagram.js';
import { GateError } from '../errors.js';
import { type GateFinding, verifyGate } from '../verify/verify.js';
import { type Command, parseArgs, USAGE } from './args.js';
import { LoadError, type LoadHost, loadGate } from './load.js';

/** What the command needs of its surroundings. */
export interface CliHost extends LoadHost {
  /** The version of this package. */
  version(): Promise<string>;
  out(text: string): void;
  err(text: string): void;
}

/** 0: sound or drawn. 1: findings that fail. 2: the file or the command line cannot be used. */
export type ExitCode = 0 | 1 | 2;

export async function runCli(argv: readonly string[], host: CliHost): Promise<ExitCode> {
  const command = parseArgs(argv);
  switch (command.kind) {
    case 'help':
      host.out(USAGE);
      return 0;
    case 'version':
      host.out(`${await host.version()}\n`);
      return 0;
    case 'unusable':
      host.err(`fsm-gate: ${command.reason}.\n\n${USAGE}`);
      return 2;
    case 'verify':
      return reporting(host, () => verify(command, host));
    case 'diagram':
      return reporting(host, () => diagram(command, host));
    default:
      return command satisfies never;
  }
}

async function verify(command: Extract<Command, { kind: 'verify' }>, host: CliHost): Promise<ExitCode> {
  const gate = await loadGate(command.file, host);
  const findings = verifyGate(gate, command.tools === undefined ? {} : { tools: command.tools });
  const count = (severity: GateFinding['severity']) =>
    findings.filter((finding) => finding.severity === severity).length;
  if (command.format === 'json') host.out(`${JSON.stringify({ file: command.file, findings }, null, 2)}\n`);
  else {
    for (const { severity, code, message, fix } of findings) host.out(`${severity}: ${message} ${fix} [${code}]\n`);
    const { states, bindings } = gate.model;
    host.out(
      `${command.file}: ${counted(states.length, 'state')}, ${counted(bindings.size, 'bound tool')}; ${counted(count('error'), 'error')}, ${counted(count('warning'), 'warning')}.\n`,
    );
  }
  const failing = count('error') + (command.failOn === 'warning' ? count('warning') : 0);
  return failing === 0 ? 0 : 1;
}

async function diagram(command: Extract<Command, { kind: 'diagram' }>, host: CliHost): Promise<ExitCode> {
  const gate = await loadGate(command.file, host);
  const { current, direction } = command;
  const drawn = toMermaid(gate, {
    ...(current === undefined ? {} : { current }),
    ...(direction === undefined ? {} : { direction }),
  });
  // Names are escaped, so only a marked state begins a line like this.
  if (current !== undefined && !/^ {2}class /m.test(drawn)) {
    const states = gate.model.states.map(({ name }) => name).join(', ');
    throw new GateError(
      'ARGUMENT_INVALID',
      `--current is ${JSON.stringify(current)}, which is none of the states: ${states}.`,
    );
  }
  host.out(drawn);
  return 0;
}

async function reporting(host: CliHost, run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run();
  } catch (error) {
    // What is wrong with the file is the user's to mend; anything else is a fault of ours and keeps its stack.
    if (!(error instanceof LoadError || error instanceof GateError)) throw error;
    host.err(`fsm-gate: ${error.message}\n`);
    return 2;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
