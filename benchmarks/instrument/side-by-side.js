// Servers that run side by side on one core and are measured in turns, in slices, while the others are stopped; the load
// runs on the other core.
import { spawnSync } from "node:child_process";
import { load, requestOf, startClient } from "./load.js";
import { pin, seed, startServer } from "./servers.js";
import { createSamples, measureUndisturbed, median, MOST_STOLEN, takeTurns } from "./turns.js";

/** @import { Options } from "../cases.js" */
/** @import { Server } from "./servers.js" */
/** @import { Figures } from "./turns.js" */

/** Connections of requests at random times. */
export const CONNECTIONS = 64;
/** Requests at random times are measured in longer slices, so that a slice has many. */
export const LONG_SLICES = 5;
/** How much longer they take in all, because a hundredth of a slice counts. */
export const AT_RANDOM = 4;
/** How much longer the load at saturation takes, so that its new connections do not show in the 99th percentile. */
export const SATURATION = 4;
/** A round is measured in slices, because the speed of a machine changes within seconds. */
const SLICES = 10;
const QUANTILES = { p50: 0.5, p99: 0.99, "p99.9": 0.999 };

/** How many seconds a round takes without repetitions. @param {number} servers @param {number} seconds */
export function secondsOfRound(servers, seconds) {
  return 3 * (5 + servers * (2 + seconds * (8 + SATURATION + AT_RANDOM)));
}

/**
 * Measures servers over one connection, at saturation, and at random times. Each round has new processes, because the
 * same code differs by up to a fifth between them.
 * @param {readonly (Server | readonly Server[])[]} servers the floor is the first; pairs have adjacent turns
 * @param {Options} options
 */
export async function measureSideBySide(servers, { operations, rounds, seconds, pets }) {
  pin(process.pid, 1);
  const databases = await seed(pets);
  const keys = [databases.key];
  const client = startClient();
  const samples = { one: createSamples(), saturation: createSamples(), random: createSamples() };
  /** @type {Record<keyof typeof samples, number[]>} the shares of stolen processor time */
  const shares = { one: [], saturation: [], random: [] };
  /** @type {string[]} */
  const arrivals = [];
  for (const operation of operations) {
    /** @type {number[]} */
    const rates = [];
    for (let round = 0; round < rounds; round += 1) await measureRound(operation, round, rates);
    arrivals.push(`${operation} ${median(rates).toFixed(0)}/s`);
  }
  client.stop();
  return {
    ...samples,
    /** The rates at which requests were due. */
    arrivals: arrivals.join(", "),
    /** Says how much the machine's host disturbed the measurements. @param {keyof typeof samples} kind */
    disturbed: (kind) => {
      const all = shares[kind];
      const many = all.filter((share) => share > MOST_STOLEN).length;
      return `Of ${all.length} measurements, ${many} were disturbed in every try, the worst by ${(Math.max(...all) * 100).toFixed(0)} %.`;
    },
  };

  /** @param {typeof operations[number]} operation @param {number} round @param {number[]} rates */
  async function measureRound(operation, round, rates) {
    const extent = { operation, keys, pets, connections: CONNECTIONS };
    const request = requestOf(operation, databases.key);
    const startOne = async (/** @type {Server} */ server) => {
      const running = await startServer(server, databases.copyFor(server, server.name));
      pin(running.child.pid, 0);
      return { ...running, id: `${operation}, ${server.name}` };
    };
    const groups = await Promise.all(
      servers.map((group) => Promise.all([group].flat().map(startOne))),
    );
    const all = groups.flat();
    /** @typedef {typeof all[number]} Started */
    // Node goes on to optimise code for some seconds, in threads that share the core.
    for (const { url } of all) {
      await load(url, { ...extent, seconds: 5 * seconds });
      await client.carryOut({ url, request, pets, seconds: 2 * seconds });
    }
    const { rate: reached } = await load(all[0]?.url ?? "", { ...extent, seconds: 3 * seconds });
    const rate = reached / 2;
    rates.push(rate);

    /** @type {(kind: keyof typeof samples, slices: number, measure: (server: Started) => Promise<Figures>) => unknown} */
    const measureInTurns = (kind, slices, measure) => {
      const measureOne = async (/** @type {Started} */ server) => {
        for (const { child } of all) child.kill(child === server.child ? "SIGCONT" : "SIGSTOP");
        // Otherwise the syncs of a server would wait for what the one before has left to be written.
        if (kind !== "one") spawnSync("sync");
        const { figures, stolen } = await measureUndisturbed(() => measure(server));
        shares[kind].push(stolen);
        samples[kind].add(server.id, figures);
      };
      return takeTurns(groups, slices, measureOne, round);
    };
    await measureInTurns("one", SLICES, async ({ url, cpuTime }) => {
      const before = cpuTime();
      const order = { url, request, pets, seconds: seconds / SLICES };
      const outcome = await client.carryOut(order);
      return { rate: outcome.rate, cpu: (cpuTime() - before) / outcome.requests };
    });
    await measureInTurns("saturation", 1, ({ url }) =>
      load(url, { ...extent, connections: 32, seconds: seconds * SATURATION }),
    );
    await measureInTurns("random", LONG_SLICES, async ({ url }) => {
      const time = (seconds * AT_RANDOM) / LONG_SLICES;
      const order = { url, request, pets, rate, seconds: time, connections: CONNECTIONS };
      const { latencies } = await client.carryOut(order);
      const sorted = latencies.toSorted((one, other) => one - other);
      const at = (/** @type {number} */ part) => sorted[Math.floor(sorted.length * part)] ?? NaN;
      return Object.fromEntries(Object.entries(QUANTILES).map(([name, part]) => [name, at(part)]));
    });
    for (const { stop } of all) await stop();
  }
}
