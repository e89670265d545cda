// Makes the two databases that every run starts from: ours, and that of the floor and the peers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { serverFile } from "./server-process.js";

/**
 * Fills a database with pets, by the server that will read it.
 * @param {"petstore" | "floor"} server
 * @param {string} database
 * @param {number} pets
 * @returns {Promise<string>} the API key, where the server knows keys
 */
export async function seed(server, database, pets) {
  const child = spawn(process.execPath, [serverFile(server)], {
    env: { ...process.env, DATABASE: database, SEED: String(pets) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  /** @type {string[]} */
  const lines = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (/^\d+$/.test(line)) break;
  }
  child.kill("SIGTERM");
  await once(child, "exit");
  return lines.find((line) => line.startsWith("pet_live_")) ?? "secret";
}
