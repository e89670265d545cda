import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { sized } from "./test-size.js";

const root = fileURLToPath(new URL("..", import.meta.url));

// In CI only: the linter takes seconds to start.
test.runIf(sized(0, 1, 1))(
  "a cycle of type imports is an error, and files in a row are not",
  () => {
    const project = mkdtempSync(join(tmpdir(), "petstore-cycles-"));
    onTestFinished(() => rmSync(project, { recursive: true }));
    const src = join(project, "packages/core/src");
    mkdirSync(src, { recursive: true });
    for (const [name, code] of [
      ["a.ts", `import type { B } from "./b.js"; export type A = B | 1;`],
      ["b.ts", `import type { A } from "./a.js"; export type B = A[];`],
      ["c.ts", `import type { D } from "./d.js"; export type C = D | 1;`],
      ["d.ts", `export type D = 2;`],
    ] as const) {
      writeFileSync(join(src, name), code);
    }
    writeFileSync(join(project, "tsconfig.json"), "{}");
    const { status, stdout } = spawnSync(
      join(root, "node_modules/.bin/depcruise"),
      ["--config", join(root, ".dependency-cruiser.js"), "packages"],
      { cwd: project, encoding: "utf8" },
    );
    expect(stdout.match(/error no-cycle: \S+/g)).toEqual([expect.stringMatching(/src\/[ab]\.ts$/)]);
    expect(status).not.toBe(0);
  },
);
