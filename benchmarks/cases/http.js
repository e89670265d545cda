// Servers over HTTP, in a new process for each measurement.
import { availableParallelism } from "node:os";
import { compareAnew } from "../instrument/load.js";
import { rowsOf } from "../instrument/results.js";
import { seed } from "../instrument/servers.js";
import { median } from "../instrument/turns.js";

/** @import { Case, Options } from "../cases.js" */
/** @import { Server } from "../instrument/servers.js" */
/** @import { Samples } from "../instrument/turns.js" */

/** @type {readonly Server[]} */
const SERVERS = [
  { name: "floor", program: "floor" },
  { name: "pet store", program: "petstore" },
  { name: "petstore serve", program: "serve" },
  { name: "floor, NORMAL", program: "floor", env: { SYNCHRONOUS: "NORMAL" }, does: ["create"] },
  { name: "fastify", program: "fastify" },
  { name: "hono", program: "hono" },
  { name: "express", program: "express" },
  { name: "constant", program: "constant", does: ["list"] },
];

/** @type {Case} */
export const http = {
  name: "http",
  measures:
    "requests a second over 32 connections beside a floor and peers; how long servers take to start",
  defaults: { rounds: 7, seconds: 3, pets: 100_000 },
  operations: ["list", "page", "get", "create"],
  secondsOfRound: ({ seconds }) => 26 * (seconds + 2),
  run: async (options) => {
    const { rounds, seconds, operations, pets } = options;
    const servers = options.chosen(SERVERS);
    const samples = await compare(servers, options);
    const startOf = (/** @type {string} */ name) =>
      median(operations.flatMap((each) => samples.all(`${each}, ${name}`, "startup")));
    return [
      {
        name: "http",
        title: "Over HTTP, against a floor and peers",
        text: `Requests a second of one server process over 32 keep-alive connections of wrk, ${pets.toLocaleString("en")} pets, medians of ${rounds} rounds of ${seconds} s (higher is better; in brackets as a multiple of the floor's: the median, the lowest and the highest ratio). A round starts every server anew, one after the other, each round another one first, and its ratios are taken within it. list: always the first 20 pets, which the pet store holds in memory until somebody writes; page: 20 after any id, another one each time. The floor is bare node:http with prepared statements: no key, no limits, no validation. The pet store and the peers check a key and count a limit (the pet store digests a connection's key once, the peers at each request); the pet store alone stores what was used and answers exact int64. All commit with synchronous=FULL unless it says NORMAL. "petstore serve" is the same store as the command serves it. "constant" answers the same bytes without a database: the ceiling.`,
        head: ["server", ...operations],
        rows: rowsOf(servers, operations, (id, floor) => {
          if (!samples.has(id)) return [""];
          const ratios = samples.ratios(id, floor, "rate");
          const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
          return [
            `${rateOf(samples, id)}/s (${median(ratios).toFixed(2)}; ${least.toFixed(2)} to ${most.toFixed(2)})`,
          ];
        }),
        chart: {
          file: "http.svg",
          title: "Requests a second, as a multiple of bare node:http + better-sqlite3",
          groups: operations.map((group) => ({
            group,
            bars: rowsOf(servers, [group], (id, floor) => [samples.ratio(id, floor, "rate")])
              .map(([name = "", ratio]) => ({ name, value: Number(ratio) }))
              .filter(({ value }) => !Number.isNaN(value)),
          })),
        },
      },
      {
        name: "http-start",
        title: "From the start of the process to listening",
        text: `Milliseconds on a database of ${pets.toLocaleString("en")} pets, medians of the starts of the run above, and × the floor's (lower is better).`,
        head: ["server", "milliseconds", "×"],
        rows: servers.map(({ name }) => {
          const start = startOf(name);
          return [name, start.toFixed(0), (start / startOf("floor")).toFixed(2)];
        }),
      },
    ];
  },
};

const COUNTS = [1, Math.max(2, availableParallelism())];

/** @type {Case} */
export const workers = {
  name: "workers",
  measures: `requests a second with ${COUNTS[1]} workers as a multiple of those with one`,
  defaults: { rounds: 5, seconds: 3, pets: 100_000 },
  operations: ["list", "longPage", "get", "create"],
  secondsOfRound: ({ seconds }) => 18 * (seconds + 2),
  run: async (options) => {
    const { rounds, seconds, operations, pets } = options;
    /** @type {readonly Server[]} */
    const kinds = [
      { name: "petstore serve", program: "serve", args: ["--workers"] },
      { name: "floor", program: "cluster", args: ["floor"] },
      { name: "constant", program: "cluster", args: ["constant"], does: ["list"] },
    ];
    const servers = options.chosen(kinds).map((kind) =>
      COUNTS.map((workers) => {
        const args = [...(kind.args ?? []), String(workers)];
        return { ...kind, name: `${kind.name}, ${workers}`, args, workers };
      }),
    );
    const samples = await compare(servers, options);
    return [
      {
        name: "workers",
        title: "With several workers",
        text: `Requests a second with N workers as a multiple of the same server's with 1, medians of the ratios of ${rounds} rounds of ${seconds} s (higher is better; in brackets the median rate, and the server's processor time for a request as a multiple of that with 1: lower is better, 1 where workers do not hinder one another). 32 connections for each worker, from one wrk on the same cores; ${pets.toLocaleString("en")} pets in one file. list: always the first 20; page: 100 after any id. The floor and "constant", an answer without a database, are served by as many processes of node:cluster: they show how much of a second core the load leaves to a server of that speed.`,
        head: ["server", "workers", ...operations.map((each) => each.replace("longPage", "page"))],
        rows: rowsOf(servers.flat(), operations, (id) => {
          const one = id.replace(/\d+$/, "1");
          if (!samples.has(id)) return [""];
          return [
            `${samples.ratio(id, one, "rate")} (${rateOf(samples, id)}/s; ${samples.ratio(id, one, "cpu")})`,
          ];
        }).map(([name = "", ...cells]) => [...name.split(", "), ...cells]),
      },
    ];
  },
};

/** @param {readonly (Server | readonly Server[])[]} servers @param {Options} options */
async function compare(servers, { rounds, seconds, operations, pets, profiles }) {
  const profiled = (/** @type {Server} */ server) => ({
    ...server,
    ...(profiles && { flags: ["--cpu-prof", `--cpu-prof-dir=${profiles}/${server.name}`] }),
  });
  const databases = await seed(pets);
  const loads = operations.map((operation) => ({
    ...{ name: operation, operation, keys: [databases.key], pets, connections: 32, seconds },
  }));
  return compareAnew(
    servers.map((group) => [group].flat().map(profiled)),
    loads,
    rounds,
    databases.copyFor,
  );
}

/** @param {Samples} samples @param {string} id */
function rateOf(samples, id) {
  return Number(samples.median(id, "rate")).toLocaleString("en");
}
