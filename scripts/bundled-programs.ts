import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, inject } from "vitest";
import { fillOnce } from "./fill-once.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** As in the real build: a native module cannot be bundled. */
const NOT_BUNDLED = ["better-sqlite3", "better-sqlite3-13", "pg"] as const;

/**
 * Bundles TypeScript programs before the tests of a file, unless another file of the run has: a bundle
 * starts ten times faster than the source. Returns a function that returns the path of a bundle: by default the first.
 *
 * @param name the name of the folder of the bundles
 * @param sources the paths of the programs, from the root of the repository
 * @param complete adds the files that the programs need to the folder
 */
export function useBundled<Source extends string>(
  name: string,
  sources: readonly Source[],
  complete: (folder: string) => void = () => undefined,
): (source?: Source) => string {
  beforeAll(() =>
    fillOnce(name, async (folder) => {
      await bundle(sources, folder);
      complete(folder);
    }),
  );
  return (source = sources[0]) =>
    join(inject("sharedFolder"), name, basename(source ?? "").replace(/\.ts$/, ".js"));
}

async function bundle(sources: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: sources.map((source) => join(root, source)),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "node20",
    platform: "node",
    tsconfig: join(root, "tsconfig.json"),
    external: [...NOT_BUNDLED],
    banner: {
      js: 'import { createRequire as _require } from "node:module"; const require = _require(import.meta.url);',
    },
  });
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of NOT_BUNDLED) {
    const installed = join(root, "node_modules", name);
    // Of the two drivers, only the one for this Node is installed.
    if (existsSync(installed)) symlinkSync(installed, join(modules, name), "junction");
  }
}
