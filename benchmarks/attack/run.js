// What a good client notices of an attack with made-up keys on its server: after a build
//   node benchmarks/attack/run.js [--rounds 5] [--rate 1000] [--requests 1000]
// The others send as many requests in a second as the attackers: with good keys, then with bad ones.
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "../report/median.js";
import { writeResults } from "../report/write-results.js";
import { get } from "./get.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    rate: { type: "string", default: "1000" },
    requests: { type: "string", default: "1000" },
  },
});
const PAUSE_MILLISECONDS = 3;
const path = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const petstore = path("../../packages/cli/bin/petstore.js");

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const database = ["--database", join(folder, "pets.db")];
const limits = ["--per-minute", "9007199254740991", "--per-day", "9007199254740991"];
const secret = issue();
const othersSecret = issue();
const server = spawn(process.execPath, [petstore, "serve", "--port", "0", ...database]);
const url = await addressOf(server);

const situations = [
  { name: "alone", others: undefined },
  { name: `beside ${values.rate} requests a second with a good key`, others: othersSecret },
  { name: `beside ${values.rate} requests a second with made-up keys`, others: "" },
].map((situation) => ({ ...situation, medians: [0].slice(1), p99s: [0].slice(1) }));

await latencies();
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const { others, medians, p99s } of situations) {
    const flood = others === undefined ? undefined : await startFlood(others);
    const measured = await latencies();
    flood?.kill();
    medians.push(median(measured));
    p99s.push(measured.toSorted((a, b) => a - b)[Math.floor(measured.length * 0.99)] ?? 0);
  }
}
server.kill();
rmSync(folder, { recursive: true });

const [alone] = situations;
writeResults(
  "attack",
  "A good client beside an attack",
  `Milliseconds that a request of one paced client takes over HTTP; medians of ${values.rounds} rounds of ${values.requests} requests, in turns. Half of the made-up keys have a right checksum. Server, client and attacker share the machine.`,
  ["situation", "median", "p99", "p99 relative to alone"],
  situations.map(({ name, medians, p99s }) => [
    name,
    median(medians).toFixed(2),
    median(p99s).toFixed(2),
    median(p99s.map((p99, round) => p99 / (alone?.p99s[round] ?? NaN))).toFixed(2),
  ]),
);

function issue() {
  const args = ["keys", "issue", "--plan", "enterprise", ...limits, ...database, "--json"];
  /** @type {{ secret: string }} */
  const issued = JSON.parse(
    execFileSync(process.execPath, [petstore, ...args], { encoding: "utf8" }),
  );
  return issued.secret;
}

/** @param {import("node:child_process").ChildProcessWithoutNullStreams} child */
async function addressOf(child) {
  for await (const line of createInterface(child.stdout)) {
    const [, address] = /(http:\S+\/v1)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error("the server did not start");
}

/** @param {string} others */
async function startFlood(others) {
  const child = fork(path("flood.js"), [url, values.rate, others]);
  await once(child, "message");
  return child;
}

async function latencies() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const measured = [];
  for (let request = 0; request < Number(values.requests); request += 1) {
    const start = process.hrtime.bigint();
    const status = await get(agent, url, secret);
    if (status !== 200) throw new Error(`a good client got ${status}`);
    measured.push(Number(process.hrtime.bigint() - start) / 1e6);
    await setTimeout(PAUSE_MILLISECONDS);
  }
  agent.destroy();
  return measured;
}
