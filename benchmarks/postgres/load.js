import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));

/** @typedef {"list" | "get" | "create"} Operation the first page of 20, any pet, or a new pet */

/**
 * Loads a server with keep-alive connections; each request is made with the next of the keys. Rejects
 * when a response is no success.
 * @param {string} url
 * @param {Operation} operation
 * @param {readonly string[]} keys
 * @param {{ seconds: number, connections: number, pets: number }} extent
 * @returns {Promise<{ rate: number, requests: number, p99: number }>} p99 in milliseconds
 */
export async function load(url, operation, keys, { seconds, connections, pets }) {
  const file = join(folder, `${new URL(url).port}-${operation}.lua`);
  writeFileSync(file, script(operation, keys, pets));
  const { stdout } = await run("wrk", [
    ...["-t1", `-c${connections}`, `-d${seconds}s`, "--latency", "-s", file],
    url,
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(`${url} did not respond to every request with success:\n${stdout}`);
  }
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? [];
  const [, p99, unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  const toMilliseconds = { us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN;
  return { rate: Number(rate), requests: Number(requests), p99: Number(p99) * toMilliseconds };
}

/**
 * @param {Operation} operation
 * @param {readonly string[]} keys
 * @param {number} pets
 */
function script(operation, keys, pets) {
  const requests = {
    list: `wrk.format("GET", "/v1/pets?limit=20", headers)`,
    get: `wrk.format("GET", "/v1/pets/" .. (turn * 7941 % ${pets} + 1), headers)`,
    create: `wrk.format("POST", "/v1/pets", headers, '{"name":"Rex","categoryId":7,"status":"available"}')`,
  };
  return `
    local keys = { ${keys.map((key) => `"${key}"`).join(", ")} }
    local turn = 0
    request = function()
      turn = turn + 1
      local headers = {
        ["Authorization"] = "Bearer " .. keys[turn % #keys + 1],
        ["Content-Type"] = "application/json",
      }
      return ${requests[operation]}
    end`;
}
