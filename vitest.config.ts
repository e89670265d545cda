import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // Tests run from source: no build can be stale.
    alias: [
      {
        find: /^@petstore\/([^/]+)$/,
        replacement: fileURLToPath(new URL("packages/$1/src/index.ts", import.meta.url)),
      },
    ],
  },
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "examples/**/*.test.ts",
      "scripts/**/*.test.{js,ts}",
    ],
    environment: "node",
    // better-sqlite3 is a native module: it is safest with a process to itself.
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
