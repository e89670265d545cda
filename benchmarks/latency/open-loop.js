// Run by run.js: sends requests to servers at random times, whether or not earlier ones have their response.
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";

/** @import { Socket } from "node:net" */

const CONNECTIONS = 64;
const PETS = 100_000;

/**
 * @typedef {{ url: string, operation: "list" | "get" | "create", key: string, rate: number, seconds: number }} Order
 */

process.on("message", (/** @type {Order} */ order) => void carryOut(order));

/** @param {Order} order */
async function carryOut(order) {
  // A server closes connections that are idle for some seconds, so each order has its own.
  const sockets = await open(order.url);
  const times = await latencies(order, sockets);
  for (const socket of sockets) socket.destroy();
  process.send?.(times);
}

/** @param {string} url */
async function open(url) {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket.setNoDelay(), "connect")));
  return sockets;
}

/**
 * Sends requests with exponentially distributed gaps, and resolves to the milliseconds from the time at
 * which each request was due to the end of its response. A request that is due while all connections are
 * busy waits for one, which counts.
 * @param {Order} order
 * @param {readonly Socket[]} sockets
 */
async function latencies({ operation, key, rate, seconds }, sockets) {
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const waiting = [];
  const free = [...sockets];
  const start = performance.now();
  const end = start + seconds * 1_000;
  let due = start;
  let sent = 0;
  let id = 0;

  const send = (/** @type {Socket} */ socket, /** @type {number} */ dueAt) => {
    sent += 1;
    id = (id * 7_941 + 12_347) % PETS;
    let text = "";
    const receive = (/** @type {Buffer} */ chunk) => {
      text += chunk.toString("latin1");
      if (!isWhole(text)) return;
      if (!text.startsWith("HTTP/1.1 20")) throw new Error(text);
      times.push(performance.now() - dueAt);
      socket.off("data", receive);
      const next = waiting.shift();
      if (next === undefined) free.push(socket);
      else send(socket, next);
    };
    socket.on("data", receive);
    socket.write(requestOf(operation, key, id + 1));
  };

  while (due < end || times.length < sent || waiting.length > 0) {
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
