import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * The name and version of an installed package, whose manifest may not be exported.
 * @param {string} name
 */
export function nameAndVersion(name) {
  for (let folder = dirname(require.resolve(name)); folder !== "/"; folder = dirname(folder)) {
    try {
      /** @type {{ name: string, version: string }} */
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (manifest.name === name) return `${name} ${manifest.version}`;
    } catch {
      // The manifest is further up.
    }
  }
  return name;
}
