import assert from "node:assert/strict";
import { INT64_MAX } from "@petstore/core";
import { valueOf } from "../answers.js";
import { everyPet } from "../pets/every-pet.js";
import { aKey, aPet, aSecret, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const reopening: StoragePromise = {
  name: "finds everything again when it is reopened, and gives out no id twice",
  needs: "reopening",
  async check(open) {
    const before = await open();
    const pet = aPet({ name: "🐈 that stays", categoryId: INT64_MAX, status: "pending" });
    const created = [
      await valueOf(before.pets.create(aPet())),
      await valueOf(before.pets.create(pet)),
      ...(await valueOf(before.pets.createAll([pet, aPet()]))),
    ];
    const key = aKey("a", { label: "kept", secrets: [aSecret("new"), aSecret("old")] });
    await valueOf(before.keys.insert(key));
    await valueOf(before.usage.charge("old", () => ({ next: aUsage(), result: undefined })));
    await valueOf(before.close());

    const after = await open();
    assert.deepEqual(await everyPet(after), created);
    assert.deepEqual(await valueOf(after.keys.find("a")), { key, usage: aUsage() });
    const shown = await valueOf(after.usage.charge("new", (each) => ({ result: each })));
    assert.deepEqual(shown?.usage, aUsage());
    const next = await valueOf(after.pets.create(aPet()));
    assert.ok(created.every(({ id }) => id < next.id));
  },
};
