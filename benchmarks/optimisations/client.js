// Run by http.js: sends requests to servers.
import { connect } from "node:net";

/** @import { Socket } from "node:net" */

/** @type {Map<number, readonly Socket[]>} */
const opened = new Map();

/** @typedef {{ port: number, connections: number, request: string, times: number }} Order */

process.on("message", (/** @type {Order} */ order) => void carryOut(order));

/** @param {Order} order */
async function carryOut({ port, connections, request, times }) {
  const sockets = opened.get(port) ?? open(port, connections);
  opened.set(port, sockets);
  await Promise.all(sockets.map((socket) => send(socket, request, times / connections)));
  process.send?.("done");
}

/**
 * @param {number} port
 * @param {number} connections
 */
function open(port, connections) {
  return Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
}

/**
 * Sends a request again and again, each time when the response is there.
 * @param {Socket} socket
 * @param {string} request
 * @param {number} times
 */
function send(socket, request, times) {
  return new Promise((resolve) => {
    let left = times;
    let text = "";
    const receive = (/** @type {Buffer} */ chunk) => {
      text += chunk.toString("latin1");
      if (!isWhole(text)) return;
      if (!text.startsWith("HTTP/1.1 2")) throw new Error(text);
      text = "";
      left -= 1;
      if (left > 0) socket.write(request);
      else {
        socket.off("data", receive);
        resolve(undefined);
      }
    };
    socket.on("data", receive);
    socket.write(request);
  });
}

/** @param {string} text */
function isWhole(text) {
  const headerEnd = text.indexOf("\r\n\r\n");
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return headerEnd >= 0 && text.length >= headerEnd + 4 + Number(length);
}
