import { createRequire } from "node:module";
import type Driver from "better-sqlite3";

/** What is used of Node's own `require`, for packages that are all the driver. */
interface RequireDriver {
  (name: string): typeof Driver;
  resolve(name: string): string;
}

/** From which Node on better-sqlite3 13 runs: an optional dependency, which no older Node installs. */
const FIRST_NODE_OF_13 = 22;

const requireDriver: RequireDriver = createRequire(import.meta.url);

/**
 * better-sqlite3, as this Node needs it: 12 is the last for Node 20 and, compiled for Node 24.19 or newer,
 * ends the process when a statement is collected (nodejs/node#65446); 13 uses Node-API.
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
