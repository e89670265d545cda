import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ESLint } from "eslint";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { inCi } from "./test-size.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Linters take seconds to start. */
const testInCi = test.runIf(inCi);
let eslint: ESLint;

beforeAll(async () => {
  const [{ ESLint }, { default: tseslint }] = await Promise.all([
    import("eslint"),
    import("typescript-eslint"),
  ]);
  // The project's own configuration, less what needs the types of files that do not exist.
  eslint = new ESLint({
    cwd: root,
    overrideConfig: [tseslint.configs.disableTypeChecked],
    ruleFilter: ({ ruleId }) => ruleId.includes("no-restricted-"),
  });
});

/** What the project's rules say against this code in this file. */
async function complaints(file: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: `packages/${file}` });
  return result?.messages.map(({ message }) => message) ?? [];
}

const index = "index.ts is the door";
const sql = "SQL lives in storage-sqlite";

testInCi.each([
  ["core/src/pets/pet.ts", "../operations/admit.js", "Arrows run one way"],
  ["core/src/pets/pet.ts", "../create-pet-store.js", "is the composition root"],
  ["core/src/operations/admit.ts", "../create-pet-store.js", "is the composition root"],
  ["core/src/pets/pet.ts", "../index.js", index],
  ["core/src/pets/pet.ts", "..", index],
  ["core/src/settings.ts", "@petstore/storage-sqlite", "core imports no package"],
  ["core/src/settings.ts", "node:http", "The engine knows no transport"],
  ["core/src/settings.ts", "kysely", sql],
  ["http-adapter/src/mount.ts", "@petstore/http-adapter", "imports its own index"],
  ["http-adapter/src/mount.ts", "@petstore/core/src/errors.js", "only what its index.ts exports"],
  ["http-adapter/src/mount.ts", "../../core/src/errors.js", "Another package's files"],
  ["http-adapter/src/mount.ts", "../../core", "Another package's files"],
  ["http-adapter/src/mount.ts", "@petstore/storage-sqlite", "never learns which storage"],
  ["storage-sqlite/src/open.ts", "@petstore/http-adapter", "A storage serves core alone"],
  ["storage-sqlite/src/open.ts", "@petstore/storage-contract", "belongs in test/"],
  ["storage-sqlite/src/open.ts", "@petstore/storage-postgres", "share only storage-sql"],
  ["storage-postgres/src/open.ts", "@petstore/storage-sqlite", "share only storage-sql"],
  ["storage-postgres/src/open.ts", "better-sqlite3", "belongs to storage-sqlite"],
  ["storage-sql/src/pets.ts", "@petstore/storage-postgres", "it knows neither"],
  ["storage-sql/src/pets.ts", "pg", "A driver belongs to one storage"],
  ["http-adapter/src/mount.ts", "@petstore/storage-sql", sql],
  ["storage-contract/src/pets.ts", "@petstore/storage-sqlite", "knows no storage"],
  ["client/src/call.ts", "node:crypto", "it imports nothing of Node"],
  ["client/src/call.ts", "@petstore/http-adapter", "only through HTTP"],
  ["client/src/call.ts", "@petstore/core/internal", "only through HTTP"],
  ["core/src/settings.ts", "@petstore/core/storage", "imports its own index"],
  ["console/src/calls.ts", "node:fs", "runs in every host"],
  ["console/src/calls.ts", "@petstore/http-adapter", "no server or storage"],
  ["cli/src/serve.ts", "better-sqlite3", sql],
  ["cli/test/serve.test.ts", "@petstore/core/src/clock.js", "only what its index.ts exports"],
])("%s may not import %s", async (file, specifier, reason) => {
  const code = `
    import { X } from "${specifier}"; X();
    import type { Z } from "${specifier}"; export type Y = Z;
    export { X } from "${specifier}";`;
  const found = await complaints(file, code);
  expect(found.filter((message) => message.includes(reason)).length).toBeGreaterThanOrEqual(3);
});

const time = "Time arrives as an argument";
const randomness = "Randomness arrives as an argument";

testInCi.each([
  ["core/src/limits/charge.ts", "Date.now();", time],
  ["core/src/limits/charge.ts", "new Date();", time],
  ["core/src/random.ts", "Date.now();", time],
  ["core/src/limits/charge.ts", "Math.random();", randomness],
  ["core/src/clock.ts", "Math.random();", randomness],
  ["core/src/limits/charge.ts", "crypto.randomUUID();", randomness],
  ["core/src/limits/charge.ts", `import { randomBytes } from "node:crypto";`, randomness],
  ["core/src/limits/charge.ts", `import { randomUUID as id } from "crypto";`, randomness],
  ["core/src/limits/charge.ts", `import * as all from "node:crypto";`, randomness],
  ["core/src/limits/charge.ts", `void import("./ban.js");`, "A lazy import escapes"],
  ["client/src/call.ts", `import { parseInt64 } from "@petstore/core";`, "loads the engine"],
  ["wire/src/json.ts", `export { parseInt64 } from "@petstore/core";`, "loads the engine"],
])("%s may not say %s", async (file, code, reason) => {
  expect(await complaints(file, code)).toEqual([expect.stringContaining(reason)]);
});

testInCi.each([
  ["core/src/create-pet-store.ts", `import "./operations/admit.js";`],
  ["core/src/operations/admit.ts", `import "../keys/key-ring.js";`],
  ["http-adapter/src/mount.ts", `import "@petstore/core"; import "node:http";`],
  ["storage-sqlite/src/open.ts", `import "better-sqlite3"; import "@petstore/storage-sql";`],
  ["storage-sqlite/test/contract.test.ts", `import "@petstore/storage-contract";`],
  ["core/test/pets.test.ts", `import "../src/pets/pet.js";`],
  ["cli/src/serve.ts", `import "@petstore/storage-sqlite"; import "@petstore/core/internal";`],
  ["storage-sql/src/pets.ts", `import "@petstore/core/storage";`],
  ["client/src/call.ts", `import type { Pet } from "@petstore/core";`],
  ["core/src/clock.ts", "Date.now();"],
  ["core/src/random.ts", `import { randomBytes } from "node:crypto"; Math.random();`],
  ["core/src/limits/charge.ts", `import { createHash } from "node:crypto"; new Date(0);`],
])("%s may say %s", async (file, code) => {
  expect(await complaints(file, code)).toEqual([]);
});

testInCi("a cycle of type imports is an error, and files in a row are not", () => {
  const project = mkdtempSync(join(tmpdir(), "petstore-cycles-"));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const src = join(project, "packages/core/src");
  mkdirSync(src, { recursive: true });
  for (const [file, imported] of ["a b", "b a", "c d", "d"].map((names) => names.split(" "))) {
    const code = imported ? `import type { T } from "./${imported}.js"; export type U = T;` : "";
    writeFileSync(join(src, `${file}.ts`), `${code} export type T = 1;`);
  }
  writeFileSync(join(project, "tsconfig.json"), "{}");
  const program = join(root, "node_modules/.bin/depcruise");
  const args = ["--config", join(root, ".dependency-cruiser.js"), "packages"];
  const { status, stdout } = spawnSync(program, args, { cwd: project, encoding: "utf8" });
  expect(stdout.match(/error no-cycle: \S+/g)).toEqual([expect.stringMatching(/src\/[ab]\.ts$/)]);
  expect(status).not.toBe(0);
});
