// Two loads: wrk, over connections that each send a request as soon as they have a response; and a client of ours, for
// one connection, for requests at random times, and for so many requests.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeFolder, startServer } from "./servers.js";
import { createSamples, takeTurns } from "./turns.js";

/** @import { Order, Outcome } from "./client.js" */
/** @import { Place, Server } from "./servers.js" */

const run = promisify(execFile);
const folder = makeFolder();
const PET = '{"name":"Rex","categoryId":7,"status":"available"}';

/** What is requested: always the first page of 20, pages of 20 or of 100 after any id, any pet, or a new pet. */
const PATHS = {
  list: "/v1/pets?limit=20",
  page: "/v1/pets?limit=20&after={id}",
  longPage: "/v1/pets?limit=100&after={id}",
  get: "/v1/pets/{id}",
  create: "/v1/pets",
};

/** @typedef {keyof typeof PATHS} Operation */

/**
 * What is sent, with which keys in turn, over how many connections, and for how long.
 * @typedef {{ operation: Operation, keys: readonly string[], pets: number, connections: number, seconds: number }} Extent
 */

/**
 * A load of its own name. `settle` runs after the warm-up; `counters` are read before and after the load, and returned
 * for one request: the server's processor time if left out.
 * @typedef {Extent & { name: string, settle?: () => Promise<unknown>, counters?: () => Promise<Record<string, number>> }} Load
 */

/**
 * Loads each server by each load, in turns, each time in a new process that is warm after a second. The samples are
 * named by the load and the server.
 * @param {readonly (Server | readonly Server[])[]} servers
 * @param {readonly Load[]} loads
 * @param {number} rounds
 * @param {(server: Server) => Place} placeOf
 */
export async function compareAnew(servers, loads, rounds, placeOf) {
  const samples = createSamples();
  for (const { name, settle, counters, ...extent } of loads) {
    const takingPart = servers
      .map((group) => [group].flat().filter(({ does }) => does?.includes(extent.operation) ?? true))
      .filter(({ length }) => length > 0);
    await takeTurns(takingPart, rounds, async (server) => {
      const { url, cpuTime, startup, stop } = await startServer(server, placeOf(server));
      const own = { ...extent, connections: extent.connections * (server.workers ?? 1) };
      await load(url, { ...own, seconds: 1 });
      await settle?.();
      const read = counters ?? (() => Promise.resolve({ cpu: cpuTime() }));
      const before = Object.entries(await read());
      const loaded = await load(url, own);
      /** @type {Record<string, number>} */
      const costs = await read();
      for (const [figure, value] of before) {
        costs[figure] = ((costs[figure] ?? Number.NaN) - value) / loaded.requests;
      }
      await stop();
      samples.add(`${name}, ${server.name}`, { ...loaded, ...costs, startup });
    });
  }
  return samples;
}

/**
 * Loads a server by wrk. Rejects when a response is no success.
 * @param {string} url
 * @param {Extent} extent
 * @returns {Promise<{ rate: number, requests: number, p99: number }>} p99 in milliseconds
 */
export async function load(url, extent) {
  const { operation, connections, seconds } = extent;
  const file = join(folder, `${operation}.lua`);
  writeFileSync(file, scriptOf(extent));
  // wrk counts in whole seconds. A disk may stall for seconds.
  const duration = `-d${Math.max(1, Math.round(seconds))}s`;
  const flags = ["-t1", `-c${connections}`, duration, "--timeout=10s", "--latency", "-s", file];
  const { stdout } = await run("wrk", [...flags, url]);
  if (/Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(`${url} did not respond to every request with success:\n${stdout}`);
  }
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? [];
  const [, p99, unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  const toMilliseconds = { us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN;
  return { rate: Number(rate), requests: Number(requests), p99: Number(p99) * toMilliseconds };
}

/**
 * A request that is always the same is made only once. The ids are all from 1 to the number of pets, in a mixed order.
 * @param {Extent} extent
 */
function scriptOf({ operation, keys, pets }) {
  const [path = "", isVaried] = PATHS[operation].split("{id}");
  const request = `
    local keys = { ${keys.map((key) => `"Bearer ${key}"`).join(", ")} }
    local id, turn = 0, 0
    request = function()
      id = (id * 7941 + 12347) % ${pets}
      turn = turn + 1
      wrk.headers["Authorization"] = keys[turn % #keys + 1]
      return wrk.format(nil, "${path}"${isVaried === undefined ? "" : " .. (id + 1)"})
    end`;
  return `
    wrk.path = "${path}"
    wrk.headers["Authorization"] = "Bearer ${keys[0]}"
    wrk.headers["Content-Type"] = "application/json"
    ${operation === "create" ? `wrk.method = "POST" wrk.body = '${PET}'` : ""}
    ${isVaried === undefined && keys.length === 1 ? "" : request}`;
}

/** Starts our client, which carries out one order at a time. */
export function startClient() {
  // The load has one core, which threads that collect its garbage would take from it. A large young generation makes
  // collections rare.
  const client = fork(fileURLToPath(new URL("client.js", import.meta.url)), {
    execArgv: ["--single-threaded-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
  });
  client.on("exit", (code) => {
    if (code !== null) throw new Error("The client failed.");
  });
  return {
    /** @param {Order} order @returns {Promise<Outcome>} */
    carryOut: async (order) => {
      client.send(order);
      const [outcome] = await once(client, "message");
      return outcome;
    },
    stop: () => client.kill(),
  };
}

/** The text of a request for our client, which replaces {id}. @param {Operation} operation @param {string} key */
export function requestOf(operation, key) {
  const head = `${PATHS[operation]} HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${key}\r\n`;
  if (operation !== "create") return `GET ${head}\r\n`;
  return `POST ${head}Content-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`;
}
