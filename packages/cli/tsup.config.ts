import { defineConfig } from "tsup";
import { options } from "../../tsup.config.js";

/** The command is bundled with all that it needs except native modules: one file starts faster. */
export default defineConfig({
  ...options,
  // commander is CommonJS and calls require() for Node's modules.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
});
