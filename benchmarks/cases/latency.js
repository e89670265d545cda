// What one caller notices, and what many callers notice of a server that is half busy.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rowsOf } from "../instrument/results.js";
import {
  AT_RANDOM,
  CONNECTIONS,
  LONG_SLICES,
  measureSideBySide,
  SATURATION,
  secondsOfRound,
} from "../instrument/side-by-side.js";
import { MOST_STOLEN, TRIES } from "../instrument/turns.js";

/** @import { Case } from "../cases.js" */
/** @import { Server } from "../instrument/servers.js" */

const FLOOR = { name: "floor", program: "floor" };
const SERVE = { name: "petstore serve", program: "serve" };
const FASTIFY = { name: "fastify", program: "fastify" };
/** @type {readonly Server[]} */
const SERVERS = [
  FLOOR,
  { name: "floor that counts", program: "floor", env: { COUNTS: "1" } },
  { name: "pet store", program: "petstore" },
  { name: "pet store that polls", program: "petstore", env: { POLL: "1" } },
  ...[SERVE, FASTIFY],
];

/** @type {Case} */
export const latency = {
  name: "latency",
  measures:
    "one connection; the 99th percentile at saturation; latency of requests at random times",
  defaults: { rounds: 4, seconds: 1, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => secondsOfRound(SERVERS.length, seconds),
  run: async (options) => {
    const { rounds, seconds, operations, pets } = options;
    const servers = options.chosen(SERVERS);
    const measured = await measureSideBySide(servers, options);
    const { one, saturation, random, arrivals, disturbed } = measured;
    const ofRounds = `${rounds} rounds, each with new processes of all servers, and each`;
    return [
      {
        name: "one-connection",
        title: "Over one connection",
        text: `Requests a second over one keep-alive connection as a multiple of the floor's, and the server's processor time for a request as a multiple of the floor's (lower is better); medians of the ratios of ${ofRounds} of ${seconds} s, in brackets the median rate and microseconds. ${pets.toLocaleString("en")} pets. All servers are measured in turns, in slices of a tenth of a round; they share one core, where the others are stopped meanwhile, and the load has another. A measurement is repeated, up to ${TRIES} times in all, while the host of the virtual machine takes more than ${MOST_STOLEN * 100} % of the processors' time; the least disturbed counts. ${disturbed("one")} All commit pets with synchronous=FULL. "Floor that counts" is the floor with one more transaction for each request, which counts it in one row at synchronous=NORMAL, and with the listed page kept in memory: it checks nothing.`,
        head: ["server", ...operations.flatMap((operation) => [operation, "processor"])],
        rows: rowsOf(servers, operations, (id, floor) => [
          `${one.ratio(id, floor, "rate")} (${one.median(id, "rate")}/s)`,
          `${one.ratio(id, floor, "cpu")} (${one.median(id, "cpu")} µs)`,
        ]),
      },
      {
        name: "saturation",
        title: "The 99th percentile at saturation",
        text: `Milliseconds of the 99th percentile with 32 keep-alive connections that each send a request as soon as they have a response, and × the floor's; medians of ${ofRounds} of ${seconds * SATURATION} s. Servers, cores and repetition as above. ${disturbed("saturation")}`,
        head: ["server", ...operations.flatMap((operation) => [operation, "×"])],
        rows: rowsOf(servers, operations, (id, floor) => [
          ...[saturation.median(id, "p99", 2), saturation.ratio(id, floor, "p99")],
        ]),
      },
      {
        name: "open-loop",
        title: "Requests at random times",
        text: `Milliseconds from the time at which a request is due to the end of its response, and × the floor's; medians of the slices of ${ofRounds} of ${seconds * AT_RANDOM} s in ${LONG_SLICES} slices, and of the ratios of slices that follow each other. Requests are due at random times (a Poisson process), whether or not earlier ones have their response, at half of the rate that the floor reaches: ${arrivals}. They use ${CONNECTIONS} connections, and those of the first 0.2 s of a slice do not count. Servers, cores and repetition as above. ${disturbed("random")}`,
        head: ["operation", "server", "p50", "×", "p99", "×", "p99.9", "×"],
        rows: operations.flatMap((operation) =>
          rowsOf(servers, [operation], (id, floor) =>
            ["p50", "p99", "p99.9"].flatMap((quantile) => [
              ...[random.median(id, quantile, 2), random.ratio(id, floor, quantile)],
            ]),
          ).map((row) => [operation, ...row]),
        ),
      },
    ];
  },
};

const WITHOUT = { ...SERVE, name: "petstore serve without it", args: ["--no-plain-requests"] };
const FIGURES = /** @type {const} */ ([
  ["requests a second, 32 connections", "saturation", "rate"],
  ["99th percentile, 32 connections", "saturation", "p99"],
  ["requests a second, one connection", "one", "rate"],
  ["processor time, one connection", "one", "cpu"],
  ["median at random times", "random", "p50"],
  ["99th percentile at random times", "random", "p99"],
]);

/** @type {Case} */
export const shortWay = {
  name: "short-way",
  measures: "the short way of plain requests, beside the floor, Fastify and a bare server of Bun",
  waitsFor: "an option of petstore serve, --no-plain-requests, that does not exist yet",
  defaults: { rounds: 8, seconds: 1, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => secondsOfRound(5, seconds),
  run: async (options) => {
    const { rounds, seconds, operations } = options;
    const bun = serverOfBun();
    const measured = await measureSideBySide([FLOOR, [SERVE, WITHOUT], FASTIFY, ...bun], options);
    const others = [SERVE, WITHOUT, FASTIFY, ...bun].map(({ name }) => [name, "floor"]);
    return [
      {
        name: "short-way",
        title: "The short way of plain requests",
        text: `Ratios to the other server that is named; \`petstore serve\` and the same with --no-plain-requests have adjacent turns. Medians of ${rounds} rounds, each with new processes, of ${seconds} s over one connection and ${seconds * SATURATION} s of the others. Servers, cores and repetition as in "Over one connection"; at random times, ${measured.arrivals}.`,
        head: ["server", "ratio to", "figure", ...operations],
        rows: [[SERVE.name, WITHOUT.name], ...others].flatMap(([name, base]) =>
          FIGURES.map(([shown, kind, figure]) => [
            ...[name ?? "", base ?? "", shown],
            ...operations.map((operation) =>
              measured[kind].ratio(`${operation}, ${name}`, `${operation}, ${base}`, figure),
            ),
          ]),
        ),
      },
    ];
  },
};

/** The program that BUN names, or that of node_modules. Else the server is left out. */
function serverOfBun() {
  const installed = fileURLToPath(new URL("../../node_modules/.bin/bun", import.meta.url));
  const runtime = process.env["BUN"] ?? installed;
  if (existsSync(runtime)) return [{ name: "bun", program: "bun", runtime }];
  console.error(
    `The server of Bun is left out: there is no ${runtime}. BUN=FOLDER/node_modules/.bin/bun names the program after npm install --prefix FOLDER bun`,
  );
  return [];
}
