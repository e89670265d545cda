import { setTimeout } from "node:timers/promises";
import { workersOf, type BuiltServer } from "../support/built-petstore.js";

/** What a server's processes hold together. */
interface Held {
  /** How many of each kind of resource keep the event loop alive: TCPSocketWrap, Timeout, … */
  readonly resources: Readonly<Record<string, number>>;
  /** Bytes on the heap and outside it, after a garbage collection. */
  readonly memory: number;
  /** CPU time used since the last time, in milliseconds. */
  readonly cpu: number;
}

/** Options of Node with which a process prints what it holds when it receives SIGUSR2. */
export const PROBED: readonly string[] = [
  "--expose-gc",
  "--import",
  `data:text/javascript,let since = process.cpuUsage();
    process.on("SIGUSR2", () => {
      const { user, system } = process.cpuUsage(since);
      const resources = process.getActiveResourcesInfo();
      gc();
      const { heapUsed, external } = process.memoryUsage();
      const held = { resources, memory: heapUsed + external, cpu: (user + system) / 1000 };
      process.stdout.write("held " + JSON.stringify(held) + "\\n");
      since = process.cpuUsage();
    });`,
];

/** What a server holds now, with its workers. Waits for a server that has ended until `timeout`. */
export async function measure(server: BuiltServer, timeout = 5_000): Promise<Held> {
  const printed = () => [...server.output().matchAll(/^held (.*)$/gm)].map(([, held = ""]) => held);
  const before = printed().length;
  const processes = [server.pid, ...workersOf(server)];
  for (const pid of processes) process.kill(pid, "SIGUSR2");
  const deadline = performance.now() + timeout;
  while (printed().length < before + processes.length) {
    if (performance.now() > deadline) throw new Error(`no measurement: ${server.output()}`);
    await setTimeout(5);
  }
  const all = printed().slice(before);
  const resources: Record<string, number> = {};
  let [memory, cpu] = [0, 0];
  for (const text of all) {
    const held = JSON.parse(text) as { resources: string[]; memory: number; cpu: number };
    memory += held.memory;
    cpu += held.cpu;
    for (const name of held.resources) resources[name] = (resources[name] ?? 0) + 1;
  }
  return { resources, memory, cpu };
}

const LOOK_EVERY = 50;
const REST = 250;
/** A server at rest looks twice a second at its connections. */
const CPU_AT_REST = 0.05;

/**
 * Waits until a server whose clients have all gone holds no more than this, and uses no CPU. Returns what is
 * still held or used in the end, `undefined` when all is at rest.
 */
export async function untilAtRest(
  server: BuiltServer,
  baseline: Held["resources"],
  timeout: number,
): Promise<string | undefined> {
  const deadline = performance.now() + timeout;
  const moreThan = ({ resources }: Held): string =>
    Object.entries(resources)
      .filter(([name, count]) => count > (baseline[name] ?? 0))
      .map(([name, count]) => `holds ${count} ${name} (was ${baseline[name] ?? 0})`)
      .join();
  for (;;) {
    let problem = moreThan(await measure(server));
    if (problem === "") {
      const since = performance.now();
      await setTimeout(REST);
      const held = await measure(server);
      const used = held.cpu / (performance.now() - since);
      problem = moreThan(held);
      if (problem === "" && used < CPU_AT_REST) return undefined;
      problem ||= `uses ${(used * 100).toFixed(1)} % of a core at rest`;
    }
    if (performance.now() > deadline) return problem;
    await setTimeout(LOOK_EVERY);
  }
}
