// Optimisations of HTTP, compared in processor time of the server, and of what is in a body.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MIMEType } from "node:util";
import { createMemoryStorage, createPetStore } from "@petstore/core";
import { createPetStoreServer, decodeJson, pollForRequests } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { ok } from "neverthrow";
import { repeat } from "./measure.js";

/** @import { ChildProcess } from "node:child_process" */
/** @import { IncomingMessage, RequestListener, Server } from "node:http" */
/** @import { PerformanceEntry } from "node:perf_hooks" */
/** @import { Storage } from "@petstore/core" */
/** @import { Optimisation, Work } from "./measure.js" */

/** @type {import("@petstore/core").NewPet} */
const REX = { name: "Rex", categoryId: 7n, status: "available" };
const PET = '{"name":"Rex","categoryId":7,"status":"available"}';
const PAGE = `[${Array.from({ length: 20 }, (_, id) => `{"id":${id},${PET.slice(1)}`).join()}]`;
const LIST = "GET /v1/pets HTTP/1.1\r\n";
const CREATE = "POST /v1/pets HTTP/1.1\r\nContent-Type: application/json\r\n";
const HEADERS = {
  "Content-Type": "application/json",
  "Content-Length": String(Buffer.byteLength(PAGE)),
};

/**
 * @param {string} folder for the databases
 * @returns {Promise<{ optimisations: readonly Optimisation[], close: () => Promise<void> }>}
 */
export async function compareHttp(folder) {
  const get = "GET / HTTP/1.1\r\nHost: pets\r\n";
  const client = fork(fileURLToPath(new URL("client.js", import.meta.url)));
  client.on("exit", (code) => {
    if (code !== null) throw new Error("The client failed.");
  });
  const load = (/** @type {Server} */ server, request = get, body = "", connections = 32) =>
    loadOf(client, connections, server, `${request}Content-Length: ${body.length}\r\n\r\n${body}`);
  const post = "POST / HTTP/1.1\r\nHost: pets\r\n";
  const samePage = await serverOn(await storageOfPage(true), LIST);
  const freshPage = await serverOn(await storageOfPage(false), LIST);
  const sameTurn = await serverOn(
    await storageAt(openSqliteStorage, join(folder, "same.db")),
    CREATE,
  );
  const laterTurn = await serverOn(
    await withoutLine(SAME_TURN, (open) => storageAt(open, join(folder, "later.db"))),
    CREATE,
  );
  const gathering = await serverOn(
    await storageAt(openSqliteStorage, join(folder, "gathering.db")),
    LIST,
  );
  const impatient = await serverOn(
    await withoutLine(GATHER, (open) => storageAt(open, join(folder, "impatient.db"))),
    LIST,
  );
  const observed = await serverOn(
    await storageAt(openSqliteStorage, join(folder, "observed.db")),
    LIST,
  );
  const lists = await load(observed.server, observed.request);
  const polling = createServer(respond);
  pollForRequests(polling);
  const bytes = Buffer.from(PET);
  const exact = Buffer.from(PET.replace("7", "7.0"));

  /** @type {readonly Optimisation[]} */
  const optimisations = [
    {
      name: "a request writes in the turn in which it is admitted (plain: a turn later, by a build without this line; 4 connections, elapsed time)",
      file: "storage-sql/src/commit/group-commit.ts",
      unit: "request",
      sample: 1_600,
      optimised: await load(sameTurn.server, sameTurn.request, PET, 4),
      plain: await load(laterTurn.server, laterTurn.request, PET, 4),
    },
    {
      name: "while requests share transactions, a transaction waits one turn for more (plain: it does not, by a build without this line; 4 connections, elapsed time)",
      file: "storage-sqlite/src/storage/sqlite-storage.ts",
      unit: "request",
      sample: 1_600,
      optimised: await load(gathering.server, gathering.request, "", 4),
      plain: await load(impatient.server, impatient.request, "", 4),
    },
    {
      name: "a signal that nobody receives is not made (plain: a subscriber to each channel)",
      file: "core/src/signals.ts",
      unit: "request",
      sample: 3_200,
      now: processorTime,
      optimised: lists,
      plain: subscribed(lists),
    },
    {
      name: "a server polls before its process sleeps (plain: it sleeps; one connection, elapsed time)",
      file: "http-adapter/src/node/poll.ts",
      unit: "request",
      sample: 1_000,
      optimised: await load(polling, get, "", 1),
      plain: await load(createServer(respond), get, "", 1),
    },
    {
      name: "a response is one chunk for the socket (plain: `response.end(body)`, which gives it two)",
      file: "http-adapter/src/node/response.ts",
      unit: "request",
      sample: 1_600,
      now: processorTime,
      optimised: await load(createServer(respondInOneChunk)),
      plain: await load(createServer(respond)),
    },
    {
      name: "the number of requests left is printed by `toFixed` (plain: by `String`, whose last results V8 keeps; 20 KB of garbage beside each, as of a request; time of the garbage collector)",
      file: "http-adapter/src/render.ts",
      unit: "number",
      sample: 20_000,
      now: collectorTime,
      optimised: printBesideGarbage((left) => left.toFixed()),
      plain: printBesideGarbage(String),
    },
    {
      name: "a page that is the same object is encoded once (plain: a storage that makes it anew)",
      file: "http-adapter/src/render.ts",
      unit: "request",
      sample: 1_600,
      now: processorTime,
      optimised: await load(samePage.server, samePage.request),
      plain: await load(freshPage.server, freshPage.request),
    },
    {
      name: "a body that has arrived is read at once (plain: by listeners, with a deadline)",
      file: "http-adapter/src/node/request.ts",
      unit: "request",
      sample: 1_600,
      now: processorTime,
      optimised: await load(createServer(withBody(readAtOnce)), post, PET),
      plain: await load(createServer(withBody(readByListeners)), post, PET),
    },
    {
      name: "JSON without long numbers, fractions or exponents is left to JSON.parse (plain: `7.0` takes the exact reader)",
      file: "http-adapter/src/json.ts",
      unit: "body",
      sample: 10_000,
      optimised: repeat(() => decodeJson(bytes)),
      plain: repeat(() => decodeJson(exact)),
    },
    {
      name: "the usual media type is compared (plain: parsed)",
      file: "http-adapter/src/body.ts",
      unit: "body",
      sample: 10_000,
      optimised: repeat(() => HEADERS["Content-Type"] === "application/json" || isJson()),
      plain: repeat(isJson),
    },
  ];
  return {
    optimisations,
    close: () => {
      client.kill();
      return Promise.resolve();
    },
  };
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

/**
 * A memory storage that returns the same page for as long as nothing changes, or another one each time.
 * @param {boolean} isSame
 */
async function storageOfPage(isSame) {
  const memory = createMemoryStorage();
  for (let index = 0; index < 20; index += 1) await memory.pets.create(REX);
  const listed = await memory.pets.list({ limit: 20, status: undefined, after: undefined });
  if (listed.isErr()) throw new Error(listed.error.message);
  const { pets, next } = listed.value;
  const page = () => ({ pets: isSame ? pets : Object.freeze([...pets]), next });
  return { ...memory, pets: { ...memory.pets, list: () => Promise.resolve(ok(page())) } };
}

const BUILD = new URL("../../packages/storage-sqlite/dist/index.js", import.meta.url);
/** The line of this build that commits what follows in the same turn. */
const SAME_TURN = "    for (const group of followedBy) group.schedule(turns);\n";
/** The line of this build that lets charges wait for others. */
const GATHER = "    gatherTurns: GATHER_TURNS,\n";

/**
 * Runs with the build of storage-sqlite without a line: there is no other way to be without it.
 * @template T
 * @param {string} line
 * @param {(openSqliteStorage: typeof import("@petstore/storage-sqlite").openSqliteStorage) => Promise<T>} use
 * @returns {Promise<T>}
 */
async function withoutLine(line, use) {
  const built = readFileSync(BUILD, "utf8");
  if (!built.includes(line)) throw new Error(`no such line in the build: ${line}`);
  // A module is imported only once from one address.
  const changed = new URL(`without-a-line-${randomUUID()}.js`, BUILD);
  writeFileSync(changed, built.replace(line, ""));
  try {
    /** @type {typeof import("@petstore/storage-sqlite")} */
    const { openSqliteStorage: open } = await import(changed.href);
    return await use(open);
  } finally {
    rmSync(changed);
  }
}

/**
 * A storage on SQLite.
 * @param {typeof import("@petstore/storage-sqlite").openSqliteStorage} open
 * @param {string} filename
 */
async function storageAt(open, filename) {
  const opened = await open({ filename });
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
}

/**
 * A server of ours on a storage, and a request that it admits.
 * @param {Storage} storage
 * @param {string} operation its first lines
 */
async function serverOn(storage, operation) {
  const store = createPetStore({ storage });
  const limits = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
  const issued = await store.keys.issue({ plan: "enterprise", limits });
  if (issued.isErr()) throw new Error(issued.error.message);
  const { secret } = issued.value;
  const request = `${operation}Host: pets\r\nAuthorization: Bearer ${secret}\r\n`;
  return { server: createPetStoreServer(store), request };
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

/**
 * Does work while somebody subscribes to all signals.
 * @param {Work} work
 * @returns {Work}
 */
function subscribed(work) {
  return async (times) => {
    for (const name of SIGNALS) subscribe(name, ignore);
    await work(times);
    for (const name of SIGNALS) unsubscribe(name, ignore);
  };
}

const SIGNALS = ["request", "transaction", "storage-failure", "storage-warning", "ban"].map(
  (name) => `petstore:${name}`,
);

function ignore() {
  // The cost of a signal itself is measured.
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

/**
 * Prints numbers that fall.
 * @param {(left: number) => string} print
 * @returns {Work}
 */
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

/**
 * Loads a server from the other process, over connections that are kept.
 * @param {ChildProcess} client
 * @param {number} connections
 * @param {Server} server
 * @param {string} request
 * @returns {Promise<Work>}
 */
async function loadOf(client, connections, server, request) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return async (times) => {
    client.send({ port, connections, request, times });
    await once(client, "message");
  };
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

function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
