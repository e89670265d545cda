// Run by run.js: so many requests a second, over 64 connections, with one key or with made-up ones.
import { Agent } from "node:http";
import { crc32 } from "node:zlib";
import { get } from "./get.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TICK_MILLISECONDS = 5;
const [, , url = "", rate = "", secret = ""] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

let sent = 0;
const started = Date.now();
setInterval(() => {
  const due = ((Date.now() - started) / 1_000) * Number(rate);
  for (; sent < due; sent += 1) void get(agent, url, secret === "" ? madeUpKey(sent) : secret);
}, TICK_MILLISECONDS);
process.send?.("started");

/**
 * Of the real form, every other one with the right checksum.
 * @param {number} number
 */
function madeUpKey(number) {
  const body = base62(number, 30);
  return `pet_live_${body}${base62(number % 2 === 0 ? crc32(body) : crc32(body) ^ 1, 6)}`;
}

/**
 * @param {number} value
 * @param {number} length
 */
function base62(value, length) {
  let text = "";
  for (let rest = value >>> 0; text.length < length; rest = Math.floor(rest / 62)) {
    text = DIGITS.charAt(rest % 62) + text;
  }
  return text;
}
