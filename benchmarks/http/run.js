// Compares the pet store over HTTP with the floor, its peers and the ceiling, in one run:
//   node benchmarks/http/run.js [--rounds 7] [--seconds 3] [--pets 100000] [--only petstore,floor] [--operations get]
// Every round starts each server anew on a copy of the same database; ratios are within a round.
import { parseArgs } from "node:util";
import { drawBarChart } from "../report/bar-chart.js";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { cellOf, compare } from "./compare.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "3" },
    pets: { type: "string", default: "100000" },
    only: { type: "string" },
    operations: { type: "string", default: "list,page,get,create" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const operations = /** @type {const} */ (["list", "page", "get", "create"]).filter((operation) =>
  values.operations.split(",").includes(operation),
);

/** @type {import("./compare.js").Contestant[]} */
const contestants = [
  { name: "floor", server: "floor", synchronous: "FULL", does: ["list", "page", "get", "create"] },
  {
    name: "pet store",
    server: "petstore",
    synchronous: "FULL",
    does: ["list", "page", "get", "create"],
  },
  {
    name: "petstore serve",
    server: "serve",
    synchronous: "FULL",
    does: ["list", "page", "get", "create"],
  },
  { name: "floor, NORMAL", server: "floor", synchronous: "NORMAL", does: ["create"] },
  {
    name: "fastify",
    server: "fastify",
    synchronous: "FULL",
    does: ["list", "page", "get", "create"],
  },
  { name: "hono", server: "hono", synchronous: "FULL", does: ["list", "page", "get", "create"] },
  {
    name: "express",
    server: "express",
    synchronous: "FULL",
    does: ["list", "page", "get", "create"],
  },
  { name: "constant", server: "constant", synchronous: "FULL", does: ["list"] },
];

const only = values.only?.split(",");
const { ratios, rates, starts } = await compare({
  contestants: contestants.filter(({ server }) => !only || only.includes(server)),
  operations,
  pets: Number(values.pets),
  rounds,
  seconds,
});

const names = [...new Set(contestants.map(({ name }) => name))];
drawBarChart(
  "http.svg",
  "Requests a second, as a multiple of bare node:http + better-sqlite3",
  operations.map((operation) => ({
    group: operation,
    bars: names
      .filter((name) => ratios.has(`${operation} ${name}`))
      .map((name) => ({ name, value: median(ratios.get(`${operation} ${name}`) ?? []) })),
  })),
);
writeResults(
  "http",
  "Over HTTP, against a floor and peers",
  `Requests a second of one server process as a multiple of the floor's, 32 keep-alive connections of wrk, ${Number(values.pets).toLocaleString("en")} pets, medians of ${rounds} rounds of ${seconds} s (higher is better; in brackets the lowest and the highest ratio, and the median rate). A round starts every server anew, one after the other, each round another one first, and its ratios are taken within it. list: always the first 20 pets, which the pet store holds in memory until somebody writes; page: 20 after any id, another one each time. The floor is bare node:http with prepared statements: no key, no limits, no validation. The pet store and the peers check a key and count a limit (the pet store digests a connection's key once, the peers at each request); the pet store alone stores what was used and answers exact int64. All commit with synchronous=FULL unless it says NORMAL. "petstore serve" is the same store as the command serves it. "constant" answers the same bytes without a database: the ceiling.`,
  ["server", ...operations],
  names.map((name) => [
    name,
    ...operations.map((operation) => cellOf(`${operation} ${name}`, ratios, rates)),
  ]),
  "http.svg",
);

const start = median(starts.get("floor") ?? []);
writeResults(
  "http-start",
  "From the start of the process to listening",
  `Milliseconds on a database of ${Number(values.pets).toLocaleString("en")} pets, medians of the starts of the run above, and × the floor's (lower is better).`,
  ["server", "milliseconds", "×"],
  [...starts].map(([name, all]) => [
    name,
    median(all).toFixed(0),
    (median(all) / start).toFixed(2),
  ]),
);
