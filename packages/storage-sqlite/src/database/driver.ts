import { createRequire } from "node:module";
import type Driver from "better-sqlite3";

/** The part of Node's `require` that loads the driver. */
interface RequireDriver {
  (name: string): typeof Driver;
  resolve(name: string): string;
}

/** The first Node that better-sqlite3 13 runs on. Older ones do not install this optional dependency. */
const FIRST_NODE_OF_13 = 22;

const requireDriver: RequireDriver = createRequire(import.meta.url);

/**
 * The better-sqlite3 for this Node. Version 12 is the last for Node 20. On Node 24.19 and newer it
 * crashes the process when a statement is garbage-collected (nodejs/node#65446). Version 13 uses Node-API.
 */
export const Database: typeof Driver = requireDriver(
  has13() ? "better-sqlite3-13" : "better-sqlite3",
);

function has13(): boolean {
  const [major = ""] = process.versions.node.split(".");
  if (Number(major) < FIRST_NODE_OF_13) return false;
  try {
    requireDriver.resolve("better-sqlite3-13");
    return true;
  } catch {
    return false;
  }
}
