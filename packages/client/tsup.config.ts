import { fileURLToPath } from "node:url";
import { defineConfig } from "tsup";
import { options } from "../../tsup.config.js";

const core = fileURLToPath(new URL("../core/src/index.ts", import.meta.url));

/** For every runtime with `fetch`. The types of core are copied, so that a user needs not install the engine. */
export default defineConfig({
  ...options,
  platform: "neutral",
  target: "es2022",
  dts: { entry: "src/index.ts", compilerOptions: { paths: { "@petstore/core": [core] } } },
});
