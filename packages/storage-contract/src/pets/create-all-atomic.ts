import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

export const createAllAtomic: StoragePromise = {
  name: "shows all or none of the pets that are added together, and all once it has answered",
  async check(open) {
    const storage = await open();
    const together = Array.from({ length: 50 }, () => aPet());
    let answered = false;
    const add = async (): Promise<void> => {
      await valueOf(storage.pets.createAll(together));
      answered = true;
    };
    const watch = async (): Promise<void> => {
      let there = 0;
      while (there < together.length) {
        await setImmediate();
        const mustBeThere = answered;
        there = (await everyPet(storage)).length;
        assert.ok([0, together.length].includes(there), `${there} of ${together.length} are there`);
        assert.ok(there > 0 || !mustBeThere, "answered, but none is there");
      }
    };
    await Promise.all([add(), watch()]);
  },
};
