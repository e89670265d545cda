import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** @import { Database } from "./database.js" */

/**
 * Starts a process that passes everything between servers and PostgreSQL.
 * @param {Database} database
 * @param {number} roundTrip milliseconds that it adds
 */
export async function startNetwork(database, roundTrip) {
  const program = fileURLToPath(new URL("slow-network.js", import.meta.url));
  const child = spawn(process.execPath, [program, String(database.port), String(roundTrip)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout.setEncoding("utf8"), "data");
  return {
    url: database.url.replace(`:${database.port}/`, `:${String(port).trim()}/`),
    /** Passes nothing from now on, and closes no connection. */
    cut: () => child.kill("SIGSTOP"),
    restore: () => child.kill("SIGCONT"),
    stop: () => child.kill("SIGKILL"),
  };
}
