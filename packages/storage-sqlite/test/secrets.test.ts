import { readFileSync, readdirSync } from "node:fs";
import { createManualClock, createPetStore } from "@petstore/core";
import { expect, it } from "vitest";
import { openStorage } from "./open-storage.js";
import { createFolder } from "./temporary-folder.js";

it("no file of the database holds the secret of a key", async () => {
  const folder = createFolder();
  const storage = await openStorage({ filename: folder.path("pets.db") });
  const store = createPetStore({ storage, clock: createManualClock() });
  const { secret, key } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
  const rotated = (await store.keys.rotate(key.id, { overlapSeconds: 60 }))._unsafeUnwrap();
  (await store.as(secret).listPets())._unsafeUnwrap();

  const files = readdirSync(folder.path("."));
  expect(files).toContain("pets.db-wal");
  for (const file of files) {
    const bytes = readFileSync(folder.path(file));
    for (const each of [secret, rotated.secret]) {
      expect(bytes.includes(each)).toBe(false);
      expect(bytes.includes(each.slice(15))).toBe(false);
    }
  }
  await store.close();
  folder.remove();
});
