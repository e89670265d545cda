import { defineConfig } from "tsup";
import { options } from "../../tsup.config.js";

/** For every runtime with `fetch`. The types of core are copied, so that a user needs not install the engine. */
export default defineConfig({
  ...options,
  platform: "neutral",
  target: "es2022",
  dts: { entry: "src/index.ts", resolve: ["@petstore/core"] },
});
