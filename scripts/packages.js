import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The names of the folders of all packages. Other folders and files beside them are none. */
export const packageNames = readdirSync(
  fileURLToPath(new URL("../packages", import.meta.url)),
).filter((name) => existsSync(new URL(join("../packages", name, "package.json"), import.meta.url)));
