import { fileURLToPath } from "node:url";
import { defineConfig } from "tsup";
import { options } from "../../tsup.config.js";

const source = (file: string) => [fileURLToPath(new URL(`../core/src/${file}`, import.meta.url))];
const paths = { "@petstore/core": source("index.ts"), "@petstore/core/facts": source("facts.ts") };

/** For every runtime with `fetch`. The types of core are copied, so that a user needs not install the engine. */
export default defineConfig({
  ...options,
  platform: "neutral",
  target: "es2022",
  dts: { entry: "src/index.ts", compilerOptions: { paths } },
});
