// Runs the tests of one part for mutate.js.
import { defineConfig } from "vitest/config";
import shared from "../vitest.config.js";

export default defineConfig({
  resolve: shared.resolve ?? {},
  test: {
    include: (process.env["PETSTORE_MUTATE_TESTS"] ?? "").split(" "),
    globalSetup: ["scripts/shared-folder.ts"],
    setupFiles: ["scripts/mutate-everywhere.ts"],
    isolate: false,
    unstubEnvs: true,
    // Stryker has its own timeout.
    testTimeout: 600_000,
  },
});
