// What it saves to bundle the command, from the start of a process to its end.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { repeat } from "./measure.js";

/** The libraries that are bundled, by the package that has them. */
const LIBRARIES = {
  cli: ["commander", "neverthrow"],
  core: ["lru-cache", "valibot"],
  "http-adapter": ["lossless-json"],
  "storage-sqlite": ["kysely"],
};

/** @returns {{ optimisations: readonly import("./measure.js").Optimisation[], close: () => Promise<void> }} */
export function compareStarts() {
  const command = fileURLToPath(new URL("../../packages/cli/dist/bin.js", import.meta.url));
  const files = Object.entries(LIBRARIES).flatMap(([name, libraries]) => {
    const { resolve } = createRequire(
      new URL(`../../packages/${name}/package.json`, import.meta.url),
    );
    return libraries.map((library) => pathToFileURL(resolve(library)).href);
  });
  const load = `await Promise.all(${JSON.stringify(files)}.map((file) => import(file)))`;
  const run = (/** @type {string[]} */ ...args) => execFileSync(process.execPath, args);
  const optimisations = [
    {
      name: "the command is one file (plain: nothing but its libraries, each from its own files)",
      file: "packages/cli/tsup.config.ts, scripts/bundle-libraries.js",
      unit: "start",
      sample: 1,
      mostRounds: 7,
      optimised: repeat(() => run(command, "--version")),
      plain: repeat(() => run("--input-type=module", "--eval", load)),
    },
  ];
  return { optimisations, close: () => Promise.resolve() };
}
