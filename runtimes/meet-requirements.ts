// Runs in Bun and in Deno: checks each requirement of the storage contract on a SQLite file, and prints its name.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRequirement, storageRequirements } from "@petstore/storage-contract";
import { openSqliteStorage } from "@petstore/storage-sqlite";

// Several processes have the same file in every runtime.
for (const requirement of storageRequirements.filter(({ needs }) => needs !== "processes")) {
  await checkRequirement(requirement, { createFixture });
  console.log(requirement.name);
}

async function createFixture() {
  const folder = await mkdtemp(join(tmpdir(), "petstore-contract-"));
  const filename = join(folder, "pets.db");
  return {
    open: async () => (await openSqliteStorage({ filename }))._unsafeUnwrap(),
    remove: () => rm(folder, { recursive: true }),
  };
}
