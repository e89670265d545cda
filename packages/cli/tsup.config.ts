import { defineConfig } from "tsup";
import { options } from "../../tsup.config.js";

/**
 * The command is bundled with all it needs but what is native or seldom loaded: one file starts faster
 * than eight packages.
 */
export default defineConfig({
  ...options,
  // commander is CommonJS, and asks for Node's own modules by require().
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
});
