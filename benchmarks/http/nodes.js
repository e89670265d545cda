// Compares the pet store on several lines of Node, each against the same floor, in one run:
//   node benchmarks/http/nodes.js [--lines 24,26] [--rounds 7] [--seconds 3] [--pets 100000]
// The newest Node of each line comes from npm's package "node".
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-results.js";
import { cellOf, compare } from "./compare.js";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "24,26" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "3" },
    pets: { type: "string", default: "100000" },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "petstore-nodes-"));
const operations = /** @type {const} */ (["list", "get", "create"]);
const servers = { floor: "floor", "pet store": "petstore" };

const contestants = [process.execPath, ...values.lines.split(",").map(install)].flatMap((node) =>
  Object.entries(servers).map(([name, server]) => ({
    name: node === process.execPath && name === "floor" ? name : `${name}, Node ${versionOf(node)}`,
    ...{ server, synchronous: "FULL", does: operations, node },
  })),
);
const { ratios, rates } = await compare({
  contestants,
  operations,
  pets: Number(values.pets),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
});
rmSync(folder, { recursive: true });

writeResults(
  "http-nodes",
  "Over HTTP, on several versions of Node",
  `As above: requests a second as a multiple of the floor's, which runs on Node ${process.versions.node}; medians of ${values.rounds} rounds of ${values.seconds} s. The floor and the pet store use better-sqlite3 12 on Node 20, and 13 on newer versions.`,
  ["server", ...operations],
  contestants.map(({ name }) => [
    name,
    ...operations.map((operation) => cellOf(`${operation} ${name}`, ratios, rates)),
  ]),
);

/**
 * Installs the newest Node of a line, and the driver that the storage uses on it. Returns the path of Node.
 * @param {string} line
 */
function install(line) {
  const place = join(folder, line);
  mkdirSync(place);
  execFileSync("npm", ["install", "--silent", "--prefix", place, `node@${line}`]);
  const node = join(place, "node_modules/node/bin/node");
  const path = `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}`;
  execFileSync(node, [join(root, "scripts/setup.js")], { env: { ...process.env, PATH: path } });
  return node;
}

/** @param {string} node */
function versionOf(node) {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
}
