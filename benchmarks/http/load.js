import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));

/**
 * What is asked for, 32 connections at a time.
 * @typedef {"list" | "get" | "create"} Operation
 */

/** @type {Record<Operation, (key: string) => string>} */
const scripts = {
  list: (key) => `
    wrk.path = "/v1/pets?limit=20"
    wrk.headers["Authorization"] = "Bearer ${key}"`,
  get: (key) => `
    wrk.headers["Authorization"] = "Bearer ${key}"
    local id = 0
    request = function()
      id = (id * 7919 + 12345) % 100000
      return wrk.format("GET", "/v1/pets/" .. (id + 1))
    end`,
  create: (key) => `
    wrk.method = "POST"
    wrk.path = "/v1/pets"
    wrk.headers["Authorization"] = "Bearer ${key}"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = '{"name":"Rex","categoryId":7,"status":"available"}'`,
};

/**
 * Loads a server and answers its requests per second. Fails when an answer is no success.
 * @param {string} url
 * @param {Operation} operation
 * @param {string} key
 * @param {number} seconds
 */
export async function load(url, operation, key, seconds) {
  const script = join(folder, `${operation}.lua`);
  writeFileSync(script, scripts[operation](key));
  const { stdout } = await run("wrk", ["-t1", "-c32", `-d${seconds}s`, "-s", script, url]);
  if (stdout.includes("Non-2xx")) throw new Error(`${url} refused requests:\n${stdout}`);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  return Number(rate);
}
