/** Connects, calls and kills upstreams over and over, and looks at what is left. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, specsOf } from '../../src/node/index.js';
import { livingGroups } from '../../src/node/process-groups.js';
import { configOf, isRunning, scripted, textOf } from '../fixtures/scripted.js';

export interface SoakReport {
  readonly cycles: number;
  readonly processesLeft: number;
  readonly groupsLeft: number;
  /** Kinds of handles of which there are more than before, with how many more. */
  readonly handlesLeft: Readonly<Record<string, number>>;
  /** Growth of the heap after the warm-up, in bytes a cycle. */
  readonly heapGrowthPerCycle: number;
}

// Without a collection at the right moment, the heap says nothing.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** `width` upstreams at a time; each cycle is one start, one call and one violent end. The first tenth warms up. */
export async function soak(cycles: number, width = 4): Promise<SoakReport> {
  const names = Array.from({ length: width }, (_, index) => `s${index}`);
  const configs = configOf(Object.fromEntries(names.map((name) => [name, scripted()])));
  const provider = createNodeProvider(configs, { stdio: { closeGraceMs: 500 } });
  const proxy = new McpProxyTool(provider, specsOf(configs));
  const pids = new Set<number>();
  const handlesBefore = countHandles();

  const oneCycle = async (name: string): Promise<void> => {
    const pid = Number(textOf(await proxy.run({ tool: 'pid', server: name })));
    if (!Number.isInteger(pid)) throw new Error(`${name} did not answer with its pid`);
    pids.add(pid);
    const connection = await provider.connect(name);
    const gone = new Promise<void>((resolve) => void connection.onClose(() => resolve()));
    process.kill(pid, 'SIGKILL');
    await gone;
  };
  const run = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += width) await Promise.all(names.map(oneCycle));
  };

  const warmUp = Math.ceil(cycles / 10);
  await run(warmUp);
  const heapBefore = heap();
  await run(cycles - warmUp);
  const heapGrowthPerCycle = (heap() - heapBefore) / (cycles - warmUp);
  await proxy.closeAll();
  await provider.closeAll();
  // The runtime lets go of a handle some turns of its loop after it has told that it is closed.
  for (let turn = 0; turn < 1_000 && Object.keys(more(countHandles(), handlesBefore)).length > 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const running = await Promise.all([...pids].map(isRunning));
  return {
    cycles: pids.size,
    processesLeft: running.filter(Boolean).length,
    groupsLeft: livingGroups().length,
    handlesLeft: more(countHandles(), handlesBefore),
    heapGrowthPerCycle,
  };
}

function heap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function more(after: Map<string, number>, before: Map<string, number>): Record<string, number> {
  const kinds = ['ProcessWrap', 'PipeWrap', 'TCPSocketWrap', 'Timeout', 'FSEventWrap'];
  const differences = kinds.map((kind) => [kind, (after.get(kind) ?? 0) - (before.get(kind) ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, difference]) => difference > 0));
}
