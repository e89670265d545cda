import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));

/**
 * What is requested: always the first page of 20, pages of 20 or of 100 after any id, any pet, or a new pet.
 * @typedef {"list" | "page" | "longPage" | "get" | "create"} Operation
 */

/** @type {Record<Operation, (key: string) => string>} */
const scripts = {
  list: (key) => `
    wrk.path = "/v1/pets?limit=20"
    wrk.headers["Authorization"] = "Bearer ${key}"`,
  page: (key) => overAllPets(key, "/v1/pets?limit=20&after="),
  longPage: (key) => overAllPets(key, "/v1/pets?limit=100&after="),
  get: (key) => overAllPets(key, "/v1/pets/"),
  create: (key) => `
    wrk.method = "POST"
    wrk.path = "/v1/pets"
    wrk.headers["Authorization"] = "Bearer ${key}"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = '{"name":"Rex","categoryId":7,"status":"available"}'`,
};

/**
 * Requests each id from 1 to 100,000, in a mixed order: the server needs as many pets.
 * @param {string} key
 * @param {string} path what the id is appended to
 */
function overAllPets(key, path) {
  return `
    wrk.headers["Authorization"] = "Bearer ${key}"
    local id = 0
    request = function()
      id = (id * 7941 + 12347) % 100000
      return wrk.format("GET", "${path}" .. (id + 1))
    end`;
}

/**
 * Loads a server and resolves to its requests per second. Rejects when a response is no success.
 * @param {string} url
 * @param {Operation} operation
 * @param {string} key
 * @param {number} seconds
 * @param {number} [connections]
 */
export async function load(url, operation, key, seconds, connections = 32) {
  const { rate } = await saturate(url, operation, key, seconds, connections);
  return rate;
}

/**
 * Loads a server as `load` does. Resolves also to the 99th percentile of the latencies, in milliseconds.
 * @param {string} url
 * @param {Operation} operation
 * @param {string} key
 * @param {number} seconds
 * @param {number} connections
 */
export async function saturate(url, operation, key, seconds, connections) {
  const script = join(folder, `${operation}.lua`);
  writeFileSync(script, scripts[operation](key));
  const { stdout } = await run("wrk", [
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    // A disk may stall for seconds.
    "--timeout=10s",
    "--latency",
    "-s",
    script,
    url,
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(`${url} did not respond to every request with success:\n${stdout}`);
  }
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  const [, p99, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return {
    rate: Number(rate),
    p99: Number(p99) * (unit === "us" ? 0.001 : unit === "s" ? 1_000 : 1),
  };
}
