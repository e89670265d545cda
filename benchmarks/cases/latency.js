// What one caller notices, and what many callers notice of a server that is half busy.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
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
const FASTIFY = { name: "fastify", program: "fastify" };

/** @type {readonly Server[]} */
const SERVERS = [
  FLOOR,
  { name: "floor that counts", program: "floor", env: { COUNTS: "1" } },
  { name: "pet store", program: "petstore" },
  { name: "pet store that polls", program: "petstore", env: { POLL: "1" } },
  { name: "petstore serve", program: "serve" },
  FASTIFY,
];

/** @type {Case} */
export const latency = {
  name: "latency",
  measures:
    "the rate over one connection, the 99th percentile at saturation, and the latency of requests at random times",
  defaults: { rounds: 4, seconds: 1, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => secondsOfRound(SERVERS.length, seconds),
  run: async (options) => {
    const { rounds, seconds, operations, pets } = options;
    const servers = options.chosen(SERVERS);
    const measured = await measureSideBySide(servers, options);
    const { one, saturation, random, arrivals, disturbed } = measured;
    const ofRounds = `${rounds} rounds, each with new processes of all servers, and each`;
    /** @param {string} operation @param {string} name */
    const ids = (operation, name) =>
      /** @type {const} */ ([`${operation}, ${name}`, `${operation}, floor`]);
    return [
      {
        name: "one-connection",
        title: "Over one connection",
        text: `Requests a second over one keep-alive connection as a multiple of the floor's, and the server's processor time for a request as a multiple of the floor's (lower is better); medians of the ratios of ${ofRounds} of ${seconds} s, in brackets the median rate and microseconds. ${pets.toLocaleString("en")} pets. All servers are measured in turns, in slices of a tenth of a round; they share one core, where the others are stopped meanwhile, and the load has another. A measurement is repeated, up to ${TRIES} times in all, while the host of the virtual machine takes more than ${MOST_STOLEN * 100} % of the processors' time; the least disturbed counts. ${disturbed("one")} All commit pets with synchronous=FULL. "Floor that counts" is the floor with one more transaction for each request, which counts it in one row at synchronous=NORMAL, and with the listed page kept in memory: it checks nothing.`,
        head: ["server", ...operations.flatMap((operation) => [operation, "processor"])],
        rows: servers.map(({ name }) => [
          name,
          ...operations.flatMap((operation) => {
            const [id, floor] = ids(operation, name);
            return [
              `${one.ratio(id, floor, "rate")} (${one.median(id, "rate")}/s)`,
              `${one.ratio(id, floor, "cpu")} (${one.median(id, "cpu")} µs)`,
            ];
          }),
        ]),
      },
      {
        name: "saturation",
        title: "The 99th percentile at saturation",
        text: `Milliseconds of the 99th percentile with 32 keep-alive connections that each send a request as soon as they have a response, and × the floor's; medians of ${ofRounds} of ${seconds * SATURATION} s. Servers, cores and repetition as above. ${disturbed("saturation")}`,
        head: ["server", ...operations.flatMap((operation) => [operation, "×"])],
        rows: servers.map(({ name }) => [
          name,
          ...operations.flatMap((operation) => {
            const [id, floor] = ids(operation, name);
            return [saturation.median(id, "p99", 2), saturation.ratio(id, floor, "p99")];
          }),
        ]),
      },
      {
        name: "open-loop",
        title: "Requests at random times",
        text: `Milliseconds from the time at which a request is due to the end of its response, and × the floor's; medians of the slices of ${ofRounds} of ${seconds * AT_RANDOM} s in ${LONG_SLICES} slices, and of the ratios of slices that follow each other. Requests are due at random times (a Poisson process), whether or not earlier ones have their response, at half of the rate that the floor reaches: ${arrivals}. They use ${CONNECTIONS} connections, and those of the first 0.2 s of a slice do not count. Servers, cores and repetition as above. ${disturbed("random")}`,
        head: ["operation", "server", "p50", "×", "p99", "×", "p99.9", "×"],
        rows: operations.flatMap((operation) =>
          servers.map(({ name }) => {
            const [id, floor] = ids(operation, name);
            return [
              operation,
              name,
              ...["p50", "p99", "p99.9"].flatMap((quantile) => [
                random.median(id, quantile, 2),
                random.ratio(id, floor, quantile),
              ]),
            ];
          }),
        ),
      },
    ];
  },
};

const SHORT = { name: "petstore serve", program: "serve" };
const WITHOUT = { ...SHORT, name: `${SHORT.name} without it`, args: ["--no-plain-requests"] };

/** @type {Case} */
export const shortWay = {
  name: "short-way",
  measures:
    "what the short way of reading plain requests saves, beside the floor, Fastify and a bare server of Bun",
  waitsFor: "an option of petstore serve, --no-plain-requests, that does not exist yet",
  defaults: { rounds: 8, seconds: 1, pets: 100_000 },
  operations: ["list", "get", "create"],
  secondsOfRound: ({ seconds }) => secondsOfRound(5, seconds),
  run: async (options) => {
    const { rounds, seconds, operations } = options;
    const runtime = findBun();
    const bun = runtime === undefined ? [] : [{ name: "bun", program: "bun", runtime }];
    const servers = [FLOOR, SHORT, WITHOUT, FASTIFY, ...bun];
    const groups = [FLOOR, [SHORT, WITHOUT], FASTIFY, ...bun];
    const { one, saturation, random, arrivals } = await measureSideBySide(groups, options);
    const figures = /** @type {const} */ ([
      ["requests a second, 32 connections", saturation, "rate"],
      ["99th percentile, 32 connections", saturation, "p99"],
      ["requests a second, one connection", one, "rate"],
      ["processor time of a request, one connection", one, "cpu"],
      ["median at random times", random, "p50"],
      ["99th percentile at random times", random, "p99"],
    ]);
    /** @param {string} name @param {string} base */
    const rowsOf = (name, base) =>
      figures.map(([shown, samples, figure]) => [
        shown,
        ...operations.map((operation) =>
          samples.ratio(`${operation}, ${name}`, `${operation}, ${base}`, figure),
        ),
      ]);
    const turns = `Servers, cores and turns as in "Over one connection"; medians of ${rounds} rounds, each with new processes of all servers; ${seconds} s over one connection and ${seconds * SATURATION} s of the others. At random times: ${arrivals}.`;
    return [
      {
        name: "short-way",
        title: "The short way of plain requests",
        text: `\`petstore serve\` as a multiple of \`petstore serve --no-plain-requests\`, in adjacent turns. ${turns}`,
        head: ["figure", ...operations],
        rows: rowsOf(SHORT.name, WITHOUT.name),
      },
      {
        name: "short-way-servers",
        title: "The short way of plain requests, beside other servers",
        text: `Multiples of the floor's. ${turns}`,
        head: ["server", "figure", ...operations],
        rows: servers
          .slice(1)
          .flatMap(({ name }) => rowsOf(name, "floor").map((row) => [name, ...row])),
      },
    ];
  },
};

/** The program that BUN names, that of node_modules, or that of the path; or says that there is none. */
function findBun() {
  const modules = fileURLToPath(new URL("../../node_modules/.bin/bun", import.meta.url));
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "bun"));
  const found = [process.env["BUN"] ?? "", modules, ...onPath].find((file) => existsSync(file));
  if (found === undefined) {
    console.error(
      "The server of Bun is left out: there is no Bun. Install it by npm install --prefix FOLDER bun, and name the program: BUN=FOLDER/node_modules/.bin/bun",
    );
  }
  return found;
}
