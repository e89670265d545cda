// Run by run.js: sends requests to servers over one connection, one after another; or over many at random times,
// whether or not earlier ones have their response. It does not sleep meanwhile, so it does not pay for waking up.
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";

/** @import { Socket } from "node:net" */

const CONNECTIONS = 64;
const PETS = 100_000;

/** How long one connection sends requests that do not count, in milliseconds. */
const WARM_UP = 10;

/** The same for many connections: the requests on new ones come all at once, and take several times as long. */
const LONG_WARM_UP = 200;

/**
 * Without a rate, over one connection.
 * @typedef {{ url: string, operation: "list" | "get" | "create", key: string, rate?: number, seconds: number }} Order
 */

process.on("message", (/** @type {Order} */ order) => void carryOut(order));

/** @param {Order} order */
async function carryOut({ rate, ...order }) {
  // A server closes connections that are idle for some seconds, so each order has its own.
  const sockets = await open(order.url, rate === undefined ? 1 : CONNECTIONS);
  const [socket] = sockets;
  if (rate !== undefined) process.send?.(await latencies({ ...order, rate }, sockets));
  else if (socket !== undefined) process.send?.(await reachedRate(order, socket));
  for (const socket of sockets) socket.destroy();
}

/**
 * @param {string} url
 * @param {number} connections
 */
async function open(url, connections) {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket.setNoDelay(), "connect")));
  return sockets;
}

/**
 * Sends requests, each when the response to the one before has come. Resolves to the requests
 * per second, and to the number of requests with those that warm up.
 * @param {Order} order
 * @param {Socket} socket
 */
async function reachedRate({ operation, key, seconds }, socket) {
  let text = "";
  let all = 0;
  let id = Math.floor(Math.random() * PETS);
  socket.on("data", (/** @type {Buffer} */ chunk) => void (text += chunk.toString("latin1")));
  const sendFor = async (/** @type {number} */ milliseconds) => {
    const start = performance.now();
    let requests = 0;
    while (performance.now() < start + milliseconds) {
      id = (id * 7_941 + 12_347) % PETS;
      text = "";
      socket.write(requestOf(operation, key, id + 1));
      while (!isWhole(text)) await setImmediate();
      if (!text.startsWith("HTTP/1.1 20")) throw new Error(text);
      requests += 1;
    }
    all += requests;
    return requests / ((performance.now() - start) / 1_000);
  };
  await sendFor(WARM_UP);
  const rate = await sendFor(seconds * 1_000);
  return [rate, all];
}

/**
 * Sends requests with exponentially distributed gaps, and resolves to the milliseconds from the time at
 * which each request was due to the end of its response, but for those that warm up. A request that is due while
 * all connections are busy waits for one, which counts.
 * @param {Order & { rate: number }} order
 * @param {readonly Socket[]} sockets
 */
async function latencies({ operation, key, rate, seconds }, sockets) {
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const waiting = [];
  const free = [...sockets];
  const start = performance.now();
  const warm = start + LONG_WARM_UP;
  const end = warm + seconds * 1_000;
  let due = start;
  let underWay = 0;
  let id = 0;

  const send = (/** @type {Socket} */ socket, /** @type {number} */ dueAt) => {
    underWay += 1;
    id = (id * 7_941 + 12_347) % PETS;
    let text = "";
    const receive = (/** @type {Buffer} */ chunk) => {
      text += chunk.toString("latin1");
      if (!isWhole(text)) return;
      if (!text.startsWith("HTTP/1.1 20")) throw new Error(text);
      underWay -= 1;
      if (dueAt >= warm) times.push(performance.now() - dueAt);
      socket.off("data", receive);
      const next = waiting.shift();
      if (next === undefined) free.push(socket);
      else send(socket, next);
    };
    socket.on("data", receive);
    socket.write(requestOf(operation, key, id + 1));
  };

  while (due < end || underWay > 0 || waiting.length > 0) {
    while (due < end && due <= performance.now()) {
      const socket = free.pop();
      if (socket === undefined) waiting.push(due);
      else send(socket, due);
      due += (-Math.log(1 - Math.random()) * 1_000) / rate;
    }
    // A timer would be late by up to a millisecond.
    await setImmediate();
  }
  return times;
}

/**
 * @param {Order["operation"]} operation
 * @param {string} key
 * @param {number} id
 */
function requestOf(operation, key, id) {
  const head = `Host: pets\r\nAuthorization: Bearer ${key}\r\n`;
  if (operation === "list") return `GET /v1/pets?limit=20 HTTP/1.1\r\n${head}\r\n`;
  if (operation === "get") return `GET /v1/pets/${id} HTTP/1.1\r\n${head}\r\n`;
  const body = '{"name":"Rex","categoryId":7,"status":"available"}';
  return `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** @param {string} text */
function isWhole(text) {
  const headerEnd = text.indexOf("\r\n\r\n");
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return headerEnd >= 0 && text.length >= headerEnd + 4 + Number(length);
}
