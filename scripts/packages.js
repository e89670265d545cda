import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The names of the folders of all packages. Other folders and files beside them are none. */
export const packageNames = readdirSync(
  fileURLToPath(new URL("../packages", import.meta.url)),
).filter((name) => existsSync(new URL(join("../packages", name, "package.json"), import.meta.url)));

/** The names of those that are published; the others are bundled into them. */
export const publishedNames = packageNames.filter((name) => {
  const manifest = new URL(join("../packages", name, "package.json"), import.meta.url);
  /** @type {{ private?: boolean }} */
  const { private: isPrivate = false } = JSON.parse(readFileSync(manifest, "utf8"));
  return !isPrivate;
});
