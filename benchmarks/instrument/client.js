// Run by load.js: sends requests to a server over one connection or many, each when the one before has its response; or
// at random times, whether or not earlier ones have their response.
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";

/** @import { Socket } from "node:net" */

/**
 * @typedef {object} Order
 * @property {string} url
 * @property {string} request its text; {id} stands for the id of any pet
 * @property {number} [pets] how many ids there are
 * @property {number} [connections]
 * @property {boolean} [isKept] whether later orders for this server use the same connections, and the client sleeps
 *   between requests. Else it does not pay for waking up.
 * @property {number} [seconds] how long it sends requests, or
 * @property {number} [times] how many in all
 * @property {number} [rate] at random times: how many requests are due in a second
 */

/**
 * Requests a second, how many there were with those that warm up, and at random times the milliseconds from when each
 * was due to the end of its response.
 * @typedef {{ rate: number, requests: number, latencies: readonly number[] }} Outcome
 */

/** How long requests over one connection do not count, in milliseconds. */
const WARM_UP = 10;
/** The same at random times: the requests on new connections come all at once, and take several times as long. */
const LONG_WARM_UP = 200;

/** @type {Map<string, readonly Socket[]>} */
const kept = new Map();

process.on("message", (/** @type {Order} */ order) => void carryOut(order));

/** @param {Order} order */
async function carryOut(order) {
  const { url, connections = 1, isKept = false, rate } = order;
  // A server closes connections that are idle for some seconds, so most orders have their own.
  const earlier = kept.get(url)?.filter(({ readyState }) => readyState === "open") ?? [];
  const missing = Math.max(0, connections - earlier.length);
  const sockets = [...earlier, ...Array.from({ length: missing }, () => open(url))];
  if (isKept) kept.set(url, sockets);
  for (const socket of sockets) if (socket.connecting) await once(socket, "connect");
  let isDone = isKept;
  const stayAwake = async () => {
    while (!isDone) await setImmediate();
  };
  void stayAwake();
  const outcome = await (rate === undefined ? inTurn(order, sockets) : atRandom(order, sockets));
  isDone = true;
  if (!isKept) for (const socket of sockets) socket.destroy();
  process.send?.(outcome);
}

/** @param {string} url */
function open(url) {
  return connect(Number(new URL(url).port), "127.0.0.1").setNoDelay();
}

/** @param {Order} order @param {readonly Socket[]} sockets @returns {Promise<Outcome>} */
async function inTurn(order, sockets) {
  const { seconds = Infinity, times = Infinity } = order;
  const next = requestsOf(order);
  const counted = performance.now() + WARM_UP;
  const end = counted + seconds * 1_000;
  let [requests, countedRequests] = [0, 0];
  const send = async (/** @type {Socket} */ socket) => {
    for (let left = times / sockets.length; left > 0; left -= 1) {
      const sent = performance.now();
      if (sent >= end) return;
      await exchange(socket, next());
      requests += 1;
      if (sent >= counted) countedRequests += 1;
    }
  };
  await Promise.all(sockets.map(send));
  const rate = (countedRequests / (performance.now() - counted)) * 1_000;
  return { rate, requests, latencies: [] };
}

/**
 * Sends requests with exponentially distributed gaps. A request that is due while all connections are busy waits for
 * one, which counts.
 * @param {Order} order @param {readonly Socket[]} sockets @returns {Promise<Outcome>}
 */
async function atRandom(order, sockets) {
  const { rate = 0, seconds = 0 } = order;
  const next = requestsOf(order);
  /** @type {number[]} */
  const latencies = [];
  /** @type {number[]} */
  const waiting = [];
  const free = [...sockets];
  let due = performance.now();
  const counted = due + LONG_WARM_UP;
  const end = counted + seconds * 1_000;
  const send = async (/** @type {Socket} */ socket, /** @type {number} */ dueAt) => {
    await exchange(socket, next());
    if (dueAt >= counted) latencies.push(performance.now() - dueAt);
    const first = waiting.shift();
    if (first === undefined) free.push(socket);
    else void send(socket, first);
  };
  while (due < end || free.length < sockets.length) {
    while (due < end && due <= performance.now()) {
      const socket = free.pop();
      if (socket === undefined) waiting.push(due);
      else void send(socket, due);
      due += (-Math.log(1 - Math.random()) * 1_000) / rate;
    }
    // A timer would be late by up to a millisecond.
    await setImmediate();
  }
  return { rate, requests: latencies.length, latencies };
}

/** Resolves at the end of the response. @param {Socket} socket @param {string} request @returns {Promise<void>} */
function exchange(socket, request) {
  return new Promise((resolve, reject) => {
    let text = "";
    const receive = (/** @type {Buffer} */ chunk) => {
      text += chunk.toString("latin1");
      const headerEnd = text.indexOf("\r\n\r\n");
      const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
      if (headerEnd < 0 || text.length < headerEnd + 4 + Number(length)) return;
      socket.off("data", receive);
      if (text.startsWith("HTTP/1.1 2")) resolve();
      else reject(new Error(text));
    };
    socket.on("data", receive);
    socket.write(request);
  });
}

/** The requests one after the other. @param {Order} order */
function requestsOf({ request, pets = 1 }) {
  let id = Math.floor(Math.random() * pets);
  const [before = "", after] = request.split("{id}");
  return () => {
    id = (id * 7_941 + 12_347) % pets;
    return after === undefined ? before : `${before}${id + 1}${after}`;
  };
}
