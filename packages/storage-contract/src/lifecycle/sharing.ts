import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { everyPet } from "../pets/every-pet.js";
import { aKey, aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const sharing: StoragePromise = {
  name: "shows at once what another storage on the same data stored",
  needs: "sharing",
  async check(open) {
    const [one, other] = [await open(), await open()];
    for (const [writer, reader] of [
      [one, other],
      [other, one],
    ] as const) {
      const before = await everyPet(reader);
      const created = await valueOf(writer.pets.create(aPet()));
      const together = await valueOf(writer.pets.createAll([aPet(), aPet({ status: "sold" })]));
      assert.deepEqual(await everyPet(reader), [...before, created, ...together]);
      assert.deepEqual(await valueOf(reader.pets.find(created.id)), created);
    }

    await valueOf(one.keys.insert(aKey("a")));
    await valueOf(
      other.keys.update("a", (key) => ({ next: key && { ...key, revokedAt: 9 }, result: 0 })),
    );
    const shown = await valueOf(
      one.usage.charge("digest of a", (holder) => ({ result: holder?.key.revokedAt })),
    );
    assert.equal(shown, 9, "a key revoked by the other storage");
  },
};
