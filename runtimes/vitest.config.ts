import { defineConfig } from "vitest/config";
import workspace from "../vitest.config.js";

/** The packed packages on Bun and Deno: `npm run check:runtimes`. Clients and readers of the file run in Node, from source. */
export default defineConfig({
  ...(workspace.resolve === undefined ? {} : { resolve: workspace.resolve }),
  test: {
    include: ["runtimes/*.test.ts"],
    globalSetup: ["runtimes/install.ts"],
    reporters: ["verbose"],
    // better-sqlite3 is a native module: it is safest with a process to itself.
    pool: "forks",
    // For busy machines: no test takes that long by itself.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
