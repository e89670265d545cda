import { setTimeout } from "node:timers/promises";
import { vi } from "vitest";
import { workersOf, type BuiltServer } from "../support/built-petstore.js";
import { TIMEOUT } from "./sequences.js";

interface Held {
  /** The kind of each resource that keeps the event loop alive: TCPSocketWrap, Timeout, … */
  readonly resources: readonly string[];
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

export async function measure(server: BuiltServer): Promise<Held> {
  const printed = () => [...server.output().matchAll(/^held (.*)$/gm)];
  const before = printed().length;
  const processes = [server.pid, ...workersOf(server)];
  for (const pid of processes) process.kill(pid, "SIGUSR2");
  const isPrinted = () => printed().length === before + processes.length;
  await vi.waitUntil(isPrinted, { interval: 5, timeout: 5_000 });
  const all = printed().slice(before);
  const held = all.map(([, text = ""]) => JSON.parse(text) as Held);
  return held.reduce((one, other) => ({
    resources: [...one.resources, ...other.resources],
    memory: one.memory + other.memory,
    cpu: one.cpu + other.cpu,
  }));
}

/** A server at rest looks twice a second at its connections. */
const CPU_AT_REST = 0.05;

/** Waits until a server without clients holds no more than these and is idle. Resolves to what is still held, if anything. */
export async function untilAtRest(server: BuiltServer, baseline: Held["resources"]) {
  const deadline = performance.now() + TIMEOUT;
  const moreThan = ({ resources }: Held): string => {
    const rest = [...resources];
    for (const each of baseline) if (rest.includes(each)) rest.splice(rest.indexOf(each), 1);
    return rest.length === 0 ? "" : `holds ${rest.join()} too`;
  };
  for (;;) {
    let problem = moreThan(await measure(server));
    if (problem === "") {
      const since = performance.now();
      await setTimeout(250);
      const held = await measure(server);
      const used = held.cpu / (performance.now() - since);
      problem = moreThan(held);
      if (problem === "" && used < CPU_AT_REST) return undefined;
      problem ||= `uses ${(used * 100).toFixed(1)} % of a core at rest`;
    }
    if (performance.now() > deadline) return problem;
    await setTimeout(50);
  }
}
