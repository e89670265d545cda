import { defineConfig } from "tsup";

// tsup looks for its configuration upwards, so that this one serves every package.
export default defineConfig({
  entry: ["src/{index,bin}.ts"],
  format: "esm",
  target: "node20",
  platform: "node",
  tsconfig: "../../tsconfig.build.json",
  dts: { entry: "src/index.ts" },
  sourcemap: true,
  clean: true,
  silent: true,
});
