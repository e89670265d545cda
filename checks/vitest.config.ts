import { defineConfig } from "vitest/config";
import workspace from "../vitest.config.js";

/** What other people's tools make of ours: `npm run check:clients` and `npm run check:hosts`. */
export default defineConfig({
  ...(workspace.resolve === undefined ? {} : { resolve: workspace.resolve }),
  test: {
    include: ["checks/*.test.ts"],
    reporters: ["verbose"],
    pool: "forks",
    // For busy machines: each installs a tool, builds with it and runs what it has built.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
