// Runs in Bun and in Deno: checks each requirement of the storage contract on a SQLite file, and prints its name.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRequirement, storageRequirements } from "@petstore/storage-contract";
import { openSqliteStorage } from "@petstore/storage-sqlite";

for (const requirement of storageRequirements) {
  await checkRequirement(requirement, { createFixture });
  console.log(requirement.name);
}

function createFixture() {
  const folder = mkdtempSync(join(tmpdir(), "petstore-contract-"));
  return Promise.resolve({
    open: () => open(join(folder, "pets.db")),
    remove: () => remove(folder),
  });
}

async function open(filename: string) {
  const opened = await openSqliteStorage({ filename });
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
}

function remove(folder: string) {
  rmSync(folder, { recursive: true });
  return Promise.resolve();
}
