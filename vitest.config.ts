import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [
      // What tests open by themselves, they open with the driver of the storage.
      ...(Number(process.versions.node.split(".")[0]) < 22
        ? []
        : [{ find: /^better-sqlite3$/, replacement: "better-sqlite3-13" }]),
      // Tests run from source: no build can be stale.
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
    globalSetup: ["scripts/shared-folder.ts"],
    environment: "node",
    // better-sqlite3 is a native module: it is safest with a process to itself.
    pool: "forks",
    // Left to itself, vitest spares one core: on two, the tests take 1.8 times as long.
    maxWorkers: "100%",
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
