import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { sized } from "./scripts/test-size.js";

const IN_MEMORY = "packages/core/test/text-in-memory.test.ts";

/**
 * Begins with the file that needs a process of its own: in the middle, it would end a process that files share. The
 * tests that start programs come next: they take longest, and must not be left for the end.
 */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turnOf = ({ moduleId }: TestSpecification): number => {
      if (moduleId.endsWith(IN_MEMORY)) return 0;
      return /packages\/(?:cli|storage-postgres)\//.test(moduleId) ? 1 : 2;
    };
    return (await super.sort(files)).toSorted((a, b) => turnOf(a) - turnOf(b));
  }
}

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
      {
        find: /^@petstore\/([^/]+)\/(storage|internal|facts)$/,
        replacement: fileURLToPath(new URL("packages/$1/src/$2.ts", import.meta.url)),
      },
    ],
  },
  test: {
    // better-sqlite3 is a native module: it is safest with a process to itself.
    pool: "forks",
    // One more than cores: a test that waits leaves its core to another.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowestFirst },
    // For busy machines: no test takes that long by itself.
    testTimeout: sized(120_000, 1_800_000, 14_400_000),
    hookTimeout: 120_000,
    expect: { poll: { timeout: sized(60_000, 60_000, 600_000) } },
    // Under `nohup`, it names that, and the command then ignores SIGHUP.
    env: { _: "" },
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: [
            "packages/*/{src,test}/**/*.test.ts",
            "examples/**/*.test.ts",
            "scripts/**/*.test.{js,ts}",
          ],
          exclude: [IN_MEMORY],
          globalSetup: ["scripts/shared-folder.ts"],
          setupFiles: ["scripts/shown-results.ts"],
          // Half of the time of a small test file is its imports: files share a process and its modules.
          isolate: false,
        },
      },
      // Reads the whole memory of its process.
      { extends: true, test: { name: "isolated", include: [IN_MEMORY], isolate: true } },
    ],
  },
});
