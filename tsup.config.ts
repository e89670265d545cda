import { defineConfig, type Options } from "tsup";
import { existsSync } from "node:fs";
import { bundleLibraries } from "./scripts/bundle-libraries.js";

/** What a package may export: its root and its subpaths. */
const doors = ["src/index.ts", "src/storage.ts", "src/internal.ts", "src/facts.ts"];

export const options: Options = {
  entry: ["src/{index,storage,internal,facts,bin}.ts", "src/process.js"],
  format: "esm",
  target: "node20",
  platform: "node",
  tsconfig: "../../tsconfig.build.json",
  dts: { entry: doors.filter((file) => existsSync(file)) },
  sourcemap: true,
  clean: true,
  silent: true,
  esbuildPlugins: bundleLibraries,
};

// tsup looks for its configuration upwards, so that this one serves every package without its own.
export default defineConfig(options);
