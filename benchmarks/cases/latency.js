// What one caller notices, and what many callers notice of a server that is half busy.
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

/** @type {readonly Server[]} */
const SERVERS = [
  { name: "floor", program: "floor" },
  { name: "floor that counts", program: "floor", env: { COUNTS: "1" } },
  { name: "pet store", program: "petstore" },
  { name: "petstore serve", program: "serve" },
  { name: "fastify", program: "fastify" },
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
