// better-sqlite3 as this Node needs it, which is what the pet store takes, too.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const [major = ""] = process.versions.node.split(".");

/** @type {typeof import("better-sqlite3")} */
export const Database = require(Number(major) < 22 ? "better-sqlite3" : "better-sqlite3-13");
