import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { storageRequirements } from "@petstore/storage-contract";
import { expect, inject, test } from "vitest";

const run = promisify(execFile);

test.each(["Bun", "Deno"] as const)("a file meets every requirement in %s", async (name) => {
  const { folder, command } = inject("runtimes")[name];
  const [program, ...args] = [...command, join(folder, "meet-requirements.ts")];
  const { stdout } = await run(program, args, { cwd: folder, timeout: 240_000 });
  expect(stdout.trim().split("\n")).toEqual(storageRequirements.map((each) => each.name));
});
