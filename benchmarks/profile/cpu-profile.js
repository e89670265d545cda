// Reads what `node --cpu-prof` writes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @typedef {{ functionName: string, url: string }} CallFrame
 * @typedef {{ id: number, callFrame: CallFrame, children?: number[] }} ProfileNode
 * @typedef {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} CpuProfile
 * @typedef {{ name: string, owner: string, self: number, total: number, children: Frame[] }} Frame
 *   A function called from one place: microseconds in itself, and with what it calls.
 */

/**
 * The calls of the one profile in a folder, from the root.
 * @param {string} folder
 * @param {number} start the microseconds at the beginning that do not count
 * @returns {Frame}
 */
export function readProfile(folder, start) {
  const [file = ""] = readdirSync(folder);
  /** @type {CpuProfile} */
  const profile = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  /** @type {Map<number, number>} */
  const selves = new Map();
  let time = 0;
  profile.samples.forEach((id, index) => {
    const delta = profile.timeDeltas[index] ?? 0;
    time += delta;
    if (time > start) selves.set(id, (selves.get(id) ?? 0) + delta);
  });

  /**
   * @param {ProfileNode} node
   * @param {string} caller
   * @returns {Frame}
   */
  const frameOf = ({ id, callFrame, children = [] }, caller) => {
    const owner = ownerOf(callFrame) ?? caller;
    const called = children.flatMap((child) => {
      const found = nodes.get(child);
      return found === undefined ? [] : [frameOf(found, owner)];
    });
    const self = selves.get(id) ?? 0;
    const total = called.reduce((sum, frame) => sum + frame.total, self);
    return { name: callFrame.functionName || "(anonymous)", owner, self, total, children: called };
  };
  const [root] = profile.nodes;
  if (root === undefined) throw new Error(`${file} holds no profile`);
  return frameOf(root, NODE);
}

const NODE = "Node";

/** What writes to a socket, by the names of Node's native functions. */
const SENDING = new Set(["writeUtf8String", "writeLatin1String", "writeBuffer", "writev"]);

/**
 * The owner of the time in a function. Native code, such as SQLite, belongs to its caller.
 * @param {CallFrame} frame
 * @returns {string | undefined}
 */
function ownerOf({ functionName, url }) {
  if (SENDING.has(functionName)) return "sending";
  if (functionName === "(garbage collector)") return "garbage collector";
  if (functionName === "(idle)") return "idle";
  const [, ours] = /packages\/(core|http-adapter|storage-sqlite)\//.exec(url) ?? [];
  if (ours !== undefined) return ours;
  if (url.endsWith("/pets-table.js")) return "SQLite by hand";
  if (url.includes("/node_modules/")) return "libraries";
  if (url.includes("/benchmarks/")) return "server";
  return url.startsWith("node:") || functionName.startsWith("(") ? NODE : undefined;
}

/**
 * The microseconds that each owner spent.
 * @param {Frame} frame
 * @param {Map<string, number>} [times]
 */
export function timeByOwner(frame, times = new Map()) {
  times.set(frame.owner, (times.get(frame.owner) ?? 0) + frame.self);
  for (const child of frame.children) timeByOwner(child, times);
  return times;
}
