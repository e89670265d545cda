// Preloaded into a fuzzed server (`node --expose-gc --import`): reports over the IPC channel what the
// process holds. A process with workers reports the sum over all of them.
import cluster from "node:cluster";

/** @typedef {import("./server.js").Held} Held */

/** @type {Map<number, (held: Held) => void>} */
const waiting = new Map();
let asked = 0;

process.on("message", (/** @type {{ probe?: number, collect?: boolean }} */ { probe, collect }) => {
  if (probe === undefined) return;
  void Promise.all(workers().map((worker) => ask(worker, collect ?? false))).then((others) => {
    const held = sum([measure(collect ?? false), ...others]);
    // The channel may be closed by now: that is no error of the server's.
    process.send?.({ probed: probe, held }, undefined, undefined, () => undefined);
  });
});
// It must not keep the process alive. A worker's channel does so in any case, until it disconnects.
if (!cluster.isWorker) process.channel?.unref();

cluster.on(
  "message",
  (_worker, /** @type {{ probed?: number, held?: Held }} */ { probed, held }) => {
    if (probed !== undefined && held !== undefined) waiting.get(probed)?.(held);
  },
);

function workers() {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/**
 * @param {import("node:cluster").Worker} worker
 * @param {boolean} collect
 * @returns {Promise<Held>}
 */
function ask(worker, collect) {
  const number = (asked += 1);
  return new Promise((resolve) => {
    const settle = (/** @type {Held} */ held) => {
      worker.off("exit", gone);
      waiting.delete(number);
      resolve(held);
    };
    const gone = () => settle(sum([]));
    worker.once("exit", gone);
    waiting.set(number, settle);
    worker.send({ probe: number, collect }, () => undefined);
  });
}

/**
 * @param {boolean} collect
 * @returns {Held}
 */
function measure(collect) {
  if (collect) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  /** @type {Record<string, number>} */
  const resources = {};
  for (const name of process.getActiveResourcesInfo()) {
    resources[name] = (resources[name] ?? 0) + 1;
  }
  return { resources, memory: heapUsed + external, cpu: (user + system) / 1_000 };
}

/**
 * @param {readonly Held[]} all
 * @returns {Held}
 */
function sum(all) {
  /** @type {Record<string, number>} */
  const resources = {};
  let memory = 0;
  let cpu = 0;
  for (const held of all) {
    memory += held.memory;
    cpu += held.cpu;
    for (const [name, count] of Object.entries(held.resources)) {
      resources[name] = (resources[name] ?? 0) + count;
    }
  }
  return { resources, memory, cpu };
}
