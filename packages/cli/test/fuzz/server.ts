import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The resources that a server's processes hold together. */
export interface Held {
  /** How many of each kind of resource keep the event loop alive: TCPSocketWrap, Timeout, … */
  readonly resources: Readonly<Record<string, number>>;
  /** Bytes on the heap and outside it. */
  readonly memory: number;
  /** CPU time used so far, in milliseconds. */
  readonly cpu: number;
}

/** A server in a separate process, with the probe in it. */
export interface FuzzedServer {
  readonly port: number;
  /** Its standard error so far. */
  readonly complaints: () => string;
  /** Its exit code or signal, once it has ended. */
  readonly end: () => number | NodeJS.Signals | undefined;
  /** The resources that it holds now, optionally after a garbage collection; `undefined` once it has ended. */
  measure(collect?: boolean): Promise<Held | undefined>;
  /** Sends a signal. Resolves to how the server ended, or to `undefined` if it still runs after this many ms. */
  stop(signal: NodeJS.Signals, milliseconds: number): Promise<number | NodeJS.Signals | undefined>;
}

const PROBE = fileURLToPath(new URL("probe.js", import.meta.url));

/** Starts a program of Node's that prints where it listens. */
export async function startFuzzed(program: readonly string[]): Promise<FuzzedServer> {
  const child = spawn(process.execPath, ["--expose-gc", "--import", PROBE, ...program], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("no pipes");
  let complaints = "";
  let end: number | NodeJS.Signals | undefined;
  stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  // "close": then standard error has been read to its end.
  const ended = once(child, "close").then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => (end = code ?? signal ?? -1),
  );
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(stdout).on("line", (line) => {
      const [, address] = /listens on (\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(Number(new URL(address).port));
    });
    void ended.then((how) => reject(new Error(`ended with ${how}: ${complaints}`)));
  });

  const probes = new Map<number, (held: Held) => void>();
  let probed = 0;
  child.on("message", (message: { readonly probed: number; readonly held: Held }) => {
    probes.get(message.probed)?.(message.held);
    probes.delete(message.probed);
  });
  return {
    port,
    complaints: () => complaints,
    end: () => end,
    measure: (collect = false) => {
      const number = (probed += 1);
      const held = new Promise<Held>((resolve) => probes.set(number, resolve));
      if (child.connected) child.send({ probe: number, collect }, () => undefined);
      return Promise.race([held, ended.then(() => undefined)]);
    },
    stop: (signal, milliseconds) => {
      child.kill(signal);
      return Promise.race([ended, setTimeout(milliseconds, undefined, { ref: false })]);
    },
  };
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
  server: FuzzedServer,
  baseline: Held["resources"],
  idleTimeout: number,
): Promise<string | undefined> {
  const deadline = performance.now() + idleTimeout;
  for (;;) {
    const before = await server.measure();
    if (before === undefined) return undefined;
    let problem = moreThan(baseline, before.resources);
    if (problem === undefined) {
      const since = performance.now();
      await setTimeout(REST);
      const after = await server.measure();
      if (after === undefined) return undefined;
      const used = (after.cpu - before.cpu) / (performance.now() - since);
      problem = moreThan(baseline, after.resources);
      if (problem === undefined && used < CPU_AT_REST) return undefined;
      problem ??= `uses ${(used * 100).toFixed(1)} % of a core at rest`;
    }
    if (performance.now() > deadline) return problem;
    await setTimeout(LOOK_EVERY);
  }
}

function moreThan(baseline: Held["resources"], now: Held["resources"]): string | undefined {
  const more = Object.entries(now).filter(([name, count]) => count > (baseline[name] ?? 0));
  if (more.length === 0) return undefined;
  return `still holds ${more.map(([name, count]) => `${count} ${name} (was ${baseline[name] ?? 0})`).join(", ")}`;
}
