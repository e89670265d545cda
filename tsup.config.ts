import { defineConfig, type Options } from "tsup";
import { bundleLibraries } from "./scripts/bundle-libraries.js";

export const options: Options = {
  entry: ["src/{index,bin}.ts", "src/process.js"],
  format: "esm",
  target: "node20",
  platform: "node",
  tsconfig: "../../tsconfig.build.json",
  dts: { entry: "src/index.ts" },
  sourcemap: true,
  clean: true,
  silent: true,
  esbuildPlugins: bundleLibraries,
};

// tsup looks for its configuration upwards, so that this one serves every package without its own.
export default defineConfig(options);
