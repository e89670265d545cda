import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

function depcruise(files: Record<string, string>): { status: number | null; stdout: string } {
  const project = mkdtempSync(join(tmpdir(), "petstore-cycles-"));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const src = join(project, "packages/core/src");
  mkdirSync(src, { recursive: true });
  writeFileSync(join(project, "tsconfig.json"), "{}");
  for (const [name, code] of Object.entries(files)) writeFileSync(join(src, name), code);
  return spawnSync(
    join(root, "node_modules/.bin/depcruise"),
    ["--config", join(root, ".dependency-cruiser.js"), "packages"],
    { cwd: project, encoding: "utf8" },
  );
}

test("a cycle of type imports is an error", () => {
  const { status, stdout } = depcruise({
    "a.ts": `import type { B } from "./b.js"; export type A = B | 1;`,
    "b.ts": `import type { A } from "./a.js"; export type B = A[];`,
  });
  expect(stdout).toContain("error no-cycle");
  expect(status).not.toBe(0);
});

test("files in a row are not", () => {
  const { status } = depcruise({
    "a.ts": `import type { B } from "./b.js"; export type A = B | 1;`,
    "b.ts": `export type B = 2;`,
  });
  expect(status).toBe(0);
});
