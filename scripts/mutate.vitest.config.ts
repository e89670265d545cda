// Runs the tests of one part for mutate.js.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import shared from "../vitest.config.js";

const tests = (process.env["PETSTORE_MUTATE_TESTS"] ?? "").split(" ");

/** A mutant ends with the first test that fails: parts name the tests first that are quick or fail often. */
class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turnOf = ({ moduleId }: TestSpecification): number =>
      tests.findIndex((name) => moduleId.endsWith(name));
    return (await super.sort(files)).toSorted((a, b) => turnOf(a) - turnOf(b));
  }
}

export default defineConfig({
  resolve: shared.resolve ?? {},
  test: {
    include: tests,
    sequence: { sequencer: AsNamed },
    globalSetup: ["scripts/shared-folder.ts"],
    setupFiles: ["scripts/mutate-everywhere.ts"],
    isolate: false,
    unstubEnvs: true,
    // Stryker has its own timeout.
    testTimeout: 600_000,
    // Longer than by default: on a busy machine, a mutant would be found that no test notices.
    expect: { poll: { timeout: 3_000 } },
  },
});
