// Optimisations of HTTP, compared in processor time of the server, and of what is in a body.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { MIMEType } from "node:util";
import { createMemoryStorage, createPetStore } from "@petstore/core";
import { createPetStoreServer, decodeJson, pollForRequests } from "@petstore/http-adapter";
import { ok } from "neverthrow";
import { requestOf, startClient } from "../../instrument/load.js";
import { issue, openStorage, withoutLine } from "../../instrument/store.js";
import { processorTime, repeat } from "../../instrument/turns.js";

/** @import { IncomingMessage, RequestListener, Server } from "node:http" */
/** @import { PerformanceEntry } from "node:perf_hooks" */
/** @import { Storage } from "@petstore/core" */
/** @import { Work } from "../../instrument/turns.js" */
/** @import { Optimisation } from "../optimisations.js" */

const PET = '{"name":"Rex","categoryId":7,"status":"available"}';
const PAGE = `[${Array.from({ length: 20 }, (_, id) => `{"id":${id},${PET.slice(1)}`).join()}]`;
const HEADERS = { "Content-Type": "application/json", "Content-Length": String(PAGE.length) };

/** The line of the build that commits what follows in the same turn. */
const SAME_TURN = "    for (const group of followedBy) group.schedule(turns);\n";
/** The line of the build that lets charges wait for others. */
const GATHER = "    gatherTurns: GATHER_TURNS,\n";

/** @param {string} folder for the databases @returns {Promise<readonly Optimisation[]>} */
export async function compareHttp(folder) {
  const client = startClient();
  /** Loads a server from the other process. @param {Server} server @returns {Promise<Work>} */
  const load = async (server, request = requestOf("list", ""), connections = 32) => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    const order = { url, request, connections, isKept: true, sleeps: true };
    return (times) => client.carryOut({ ...order, times });
  };
  /** @param {"list" | "create"} operation @param {Storage} storage */
  const ours = async (operation, storage, connections = 32) => {
    const store = createPetStore({ storage });
    const request = requestOf(operation, await issue(store));
    return load(createPetStoreServer(store), request, connections);
  };
  const storageAt = (/** @type {string} */ name) =>
    openStorage({ filename: join(folder, `${name}.db`) });
  const without = (/** @type {string} */ line, /** @type {string} */ name) =>
    withoutLine("storage-sqlite", line, async (href) => {
      /** @type {typeof import("@petstore/storage-sqlite")} */
      const { openSqliteStorage } = await import(href);
      return openStorage({ filename: join(folder, `${name}.db`) }, openSqliteStorage);
    });
  const lists = await ours("list", await storageAt("observed"));
  const polling = createServer(respond);
  pollForRequests(polling);
  const post = requestOf("create", "");
  const [bytes, exact] = [Buffer.from(PET), Buffer.from(PET.replace("7", "7.0"))];

  return [
    {
      name: "a request writes in the turn in which it is admitted (plain: a turn later, by a build without this line; 4 connections, elapsed time)",
      ...{ file: "storage-sql/src/commit/group-commit.ts", unit: "request", sample: 1_600 },
      optimised: await ours("create", await storageAt("same"), 4),
      plain: await ours("create", await without(SAME_TURN, "later"), 4),
    },
    {
      name: "while requests share transactions, a transaction waits one turn for more (plain: it does not, by a build without this line; 4 connections, elapsed time)",
      ...{ file: "storage-sqlite/src/storage/sqlite-storage.ts", unit: "request", sample: 1_600 },
      optimised: await ours("list", await storageAt("gathering"), 4),
      plain: await ours("list", await without(GATHER, "impatient"), 4),
    },
    {
      name: "a signal that nobody receives is not made (plain: a subscriber to each channel)",
      ...{ file: "core/src/signals.ts", unit: "request", sample: 3_200, now: processorTime },
      optimised: lists,
      plain: subscribed(lists),
    },
    {
      name: "a server polls before its process sleeps (plain: it sleeps; one connection, elapsed time)",
      ...{ file: "http-adapter/src/node/poll.ts", unit: "request", sample: 1_000 },
      optimised: await load(polling, undefined, 1),
      plain: await load(createServer(respond), undefined, 1),
    },
    {
      name: "a response is one chunk for the socket (plain: `response.end(body)`, which gives it two)",
      ...{ file: "http-adapter/src/node/response.ts", unit: "request" },
      ...{ sample: 1_600, now: processorTime },
      optimised: await load(createServer(respondInOneChunk)),
      plain: await load(createServer(respond)),
    },
    {
      name: "the number of requests left is printed by `toFixed` (plain: by `String`, whose last results V8 keeps; 20 KB of garbage beside each, as of a request; time of the garbage collector)",
      ...{ file: "http-adapter/src/render.ts", unit: "number", sample: 20_000, now: collectorTime },
      optimised: printBesideGarbage((left) => left.toFixed()),
      plain: printBesideGarbage(String),
    },
    {
      name: "a page that is the same object is encoded once (plain: a storage that makes it anew)",
      ...{ file: "http-adapter/src/render.ts", unit: "request", sample: 1_600, now: processorTime },
      optimised: await ours("list", await storageOfPage(true)),
      plain: await ours("list", await storageOfPage(false)),
    },
    {
      name: "a body that has arrived is read at once (plain: by listeners, with a deadline)",
      ...{ file: "http-adapter/src/node/request.ts", unit: "request" },
      ...{ sample: 1_600, now: processorTime },
      optimised: await load(createServer(withBody(readAtOnce)), post),
      plain: await load(createServer(withBody(readByListeners)), post),
    },
    {
      name: "JSON without long numbers, fractions or exponents is left to JSON.parse (plain: `7.0` takes the exact reader)",
      ...{ file: "http-adapter/src/json.ts", unit: "body", sample: 10_000 },
      optimised: repeat(() => decodeJson(bytes)),
      plain: repeat(() => decodeJson(exact)),
    },
    {
      name: "the usual media type is compared (plain: parsed)",
      ...{ file: "http-adapter/src/body.ts", unit: "body", sample: 10_000 },
      optimised: repeat(() => HEADERS["Content-Type"] === "application/json" || isJson()),
      plain: repeat(isJson),
    },
  ];
}

/** @type {RequestListener} */
function respond(_, response) {
  response.writeHead(200, HEADERS);
  response.end(PAGE);
}

/** @type {RequestListener} */
function respondInOneChunk(_, response) {
  response.writeHead(200, HEADERS);
  response.socket?.cork();
  response.write(PAGE);
  response.socket?.uncork();
  response.end();
}

/** Returns the same page for as long as nothing changes, or another one each time. @param {boolean} isSame */
async function storageOfPage(isSame) {
  const memory = createMemoryStorage();
  for (let index = 0; index < 20; index += 1) {
    await memory.pets.create({ name: "Rex", categoryId: 7n, status: "available" });
  }
  const listed = await memory.pets.list({ limit: 20, status: undefined, after: undefined });
  if (listed.isErr()) throw new Error(listed.error.message);
  const { pets, next } = listed.value;
  const page = () => ({ pets: isSame ? pets : Object.freeze([...pets]), next });
  return { ...memory, pets: { ...memory.pets, list: () => Promise.resolve(ok(page())) } };
}

/** Does work while somebody subscribes to all signals. @param {Work} work @returns {Work} */
function subscribed(work) {
  const signals = ["request", "transaction", "storage-failure", "storage-warning", "ban"];
  // The cost of a signal itself is measured.
  const ignore = () => undefined;
  return async (times) => {
    for (const name of signals) subscribe(`petstore:${name}`, ignore);
    await work(times);
    for (const name of signals) unsubscribe(`petstore:${name}`, ignore);
  };
}

/**
 * Reads the body after a turn of the event loop, in which the request is admitted.
 * @param {(request: IncomingMessage) => Promise<unknown> | unknown} read
 * @returns {RequestListener}
 */
function withBody(read) {
  return (request, response) => {
    const readAndRespond = async () => {
      await read(request);
      respond(request, response);
    };
    void setImmediate().then(readAndRespond);
  };
}

/** @param {IncomingMessage} request */
function readAtOnce(request) {
  return request.complete && request.readableLength > 0 ? request.read() : readByListeners(request);
}

/** @param {IncomingMessage} request */
function readByListeners(request) {
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const chunks = [];
    const deadline = setTimeout(() => finish(undefined), 10_000);
    const take = (/** @type {Buffer} */ chunk) => chunks.push(chunk);
    const end = () => finish(Buffer.concat(chunks));
    const close = () => finish(undefined);
    const finish = (/** @type {Buffer | undefined} */ body) => {
      clearTimeout(deadline);
      request.off("data", take).off("end", end).off("close", close);
      resolve(body);
    };
    request.on("data", take).on("end", end).on("close", close);
  });
}

/** Prints numbers that fall. @param {(left: number) => string} print @returns {Work} */
function printBesideGarbage(print) {
  let left = 10_000_000;
  let printed = 0;
  return async (times) => {
    for (let index = 0; index < times; index += 1) {
      printed += print((left -= 1)).length + new Array(2_500).fill(index).length;
    }
    // Node reports what the garbage collector did in the next turn of the event loop.
    await setImmediate();
    return printed;
  };
}

function isJson() {
  const { essence, params } = new MIMEType(HEADERS["Content-Type"]);
  return essence === "application/json" && (params.get("charset") ?? "utf-8") === "utf-8";
}

let collecting = 0;
const collections = new PerformanceObserver((list) => count(list.getEntries()));
collections.observe({ entryTypes: ["gc"] });

/** @param {readonly PerformanceEntry[]} entries */
function count(entries) {
  for (const { duration } of entries) collecting += duration * 1_000;
}

/** How long the garbage collector has stopped this process, in microseconds. */
function collectorTime() {
  count(collections.takeRecords());
  return collecting;
}
