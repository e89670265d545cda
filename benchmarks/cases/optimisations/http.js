// Optimisations of HTTP, compared in processor time of the server, and of what is in a body.
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import { createMemoryStorage, createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";
import { ok } from "neverthrow";
import { requestOf, startClient } from "../../instrument/load.js";
import { issue, openStorage, openWithout } from "../../instrument/store.js";
import { processorTime, repeatBy } from "../../instrument/turns.js";

/** @import { IncomingMessage, RequestListener, Server } from "node:http" */
/** @import { Storage } from "@petstore/core/storage" */
/** @import { Work } from "../../instrument/turns.js" */
/** @import { Optimisations } from "../optimisations.js" */

const PET = '{"name":"Rex","categoryId":7,"status":"available"}';
const PAGE = `[${Array.from({ length: 20 }, (_, id) => `{"id":${id},${PET.slice(1)}`).join()}]`;
const HEADERS = { "Content-Type": "application/json", "Content-Length": String(PAGE.length) };

/** What lets callers go on before the next group of calls commits. */
const SAME_TURN = "Promise.resolve().then(() => nextTick(action))";
/** What lets charges wait for others. */
const GATHER = "lastShared > 1 ? gatherTurns : 0";

/** @param {string} folder for the databases @returns {Promise<Optimisations>} */
export async function compareHttp(folder) {
  const client = startClient();
  /** Loads a server from the other process. @param {Server} server @returns {Promise<Work>} */
  const load = async (server, request = requestOf("list", ""), connections = 32) => {
    const url = await listen(server);
    const order = { url, request, connections, isKept: true };
    return (times) => client.carryOut({ ...order, times });
  };
  /** @param {"list" | "create"} operation @param {Storage} storage */
  const ours = async (operation, storage, connections = 32) => {
    const store = createPetStore({ storage });
    const request = requestOf(operation, await issue(store));
    return load(createPetStoreServer(store), request, connections);
  };
  const fileOf = (/** @type {string} */ name) => ({ filename: join(folder, `${name}.db`) });
  const post = requestOf("create", "");

  return {
    "a request writes in the turn in which it is admitted (plain: a turn later, by another build; 4 connections)":
      [
        ["storage-sql/src/commit/turns.ts", "request", 1_600, processorTime],
        await ours("create", await openStorage(fileOf("same")), 4),
        await ours("create", await openWithout(fileOf("later"), SAME_TURN, "action()"), 4),
      ],
    "while requests share transactions, a transaction waits one turn for more (plain: it does not, by another build; 4 connections, elapsed time)":
      [
        ["storage-sqlite/src/storage/groups.ts", "request", 1_600],
        await ours("list", await openStorage(fileOf("gathering")), 4),
        await ours("list", await openWithout(fileOf("impatient"), GATHER, "0"), 4),
      ],
    "a response is one chunk for the socket (plain: `response.end(body)`, which gives it two)": [
      ["http-adapter/src/node/response.ts", "request", 1_600, processorTime],
      await load(createServer(respondInOneChunk)),
      await load(createServer(respond)),
    ],
    "a page that is the same object is encoded once (plain: a storage that makes it anew)": [
      ["http-adapter/src/response/render.ts", "request", 1_600, processorTime],
      await ours("list", await storageOfPage(true)),
      await ours("list", await storageOfPage(false)),
    ],
    "a body that has arrived is read at once (plain: by listeners, with a deadline)": [
      ["http-adapter/src/node/request.ts", "request", 1_600, processorTime],
      await load(createServer(withBody(readAtOnce)), post),
      await load(createServer(withBody(readByListeners)), post),
    ],
    "JSON without long numbers, fractions or exponents is left to JSON.parse (plain: one id of 16 digits takes the exact reader; the server is in the same process)":
      [
        ["wire/src/json.ts", "page of 100 read by the client", 400, processorTime],
        await readPages("1"),
        await readPages("1000000000000000"),
      ],
  };
}

/** @param {Server} server @returns the address of the server, which listens then */
async function listen(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** Has a client read the same page of 100 pets again and again. @param {string} firstId */
async function readPages(firstId) {
  const ids = [firstId, ...Array.from({ length: 99 }, (_, index) => index + 2)];
  const page = `[${ids.map((id) => `{"id":${id},${PET.slice(1)}`).join()}]`;
  const baseUrl = `${await listen(createServer((_, response) => response.end(page)))}/v1`;
  const pets = createPetsClient({ baseUrl, apiKey: await issue(createPetStore()) });
  return repeatBy(1, async () => {
    const listed = await pets.listPets({ limit: 100 });
    if (listed.isErr()) throw new Error(listed.error.message);
  });
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
