import assert from "node:assert/strict";
import type { Pet } from "@petstore/core";
import { allPets, createOnce, createPets, valueOf } from "../calls.js";
import type { Requirements } from "../requirement.js";
import { aPet, aRequest, petValues } from "../samples.js";

const EXPIRY = aRequest().expiresAt;

/** The requirements of `PetStorage.createOnce`. */
export const creationRequirements: Requirements = {
  "adds one pet for each token, even when twins arrive at once, and plain creates between them":
    async (storage) => {
      const [first, twin, plain, other] = await Promise.all([
        createOnce(storage),
        createOnce(storage),
        valueOf(storage.pets.create(aPet())),
        createOnce(storage, { token: "" }),
      ]);
      assert.deepEqual([first.replayed, twin.replayed, other.replayed], [false, true, false]);
      assert.equal(twin.petId, first.petId);
      assert.deepEqual(await createOnce(storage), { ...first, replayed: true });
      const [again, next] = await Promise.all([
        createOnce(storage, { token: "" }),
        valueOf(storage.pets.create(aPet())),
      ]);
      assert.deepEqual(again, { ...other, replayed: true });
      const ids = new Set([first.petId, plain.id, other.petId, next.id]);
      assert.deepEqual(new Set((await allPets(storage)).map(({ id }) => id)), ids);
      assert.equal(ids.size, 4);
    },
  "returns the first creation for another pet under its token, and adds nothing": async (
    storage,
  ) => {
    const first = await createOnce(storage);
    const request = aRequest({ fingerprint: "of another pet", expiresAt: EXPIRY + 1 });
    const second = await valueOf(storage.pets.createOnce(aPet({ name: "another" }), request));
    assert.deepEqual(second, { ...first, replayed: true });
    assert.equal(second.fingerprint, "of a pet");
    assert.equal(second.expiresAt, EXPIRY);
    assert.equal((await allPets(storage)).length, 1);
  },
  "remembers a creation until the millisecond of its expiry, and then adds another pet": async (
    storage,
  ) => {
    const first = await createOnce(storage);
    assert.ok((await createOnce(storage, { now: EXPIRY - 1 })).replayed);
    const again = { now: EXPIRY, expiresAt: EXPIRY + 1 };
    const second = await createOnce(storage, again);
    assert.ok(!second.replayed && second.petId > first.petId);
    assert.deepEqual(await createOnce(storage, again), { ...second, replayed: true });
  },
  "remembers every creation that has not expired, however many others have": async (storage) => {
    const kept = await createOnce(storage, { token: "kept", expiresAt: EXPIRY + 1 });
    for (const [name, now] of [
      ["expires", 0],
      ["new", EXPIRY],
    ] as const) {
      for (let index = 0; index < 5; index += 1) {
        await createOnce(storage, { token: `${name} ${index}`, now, expiresAt: EXPIRY + now });
      }
    }
    const retry = await createOnce(storage, { token: "kept", now: EXPIRY });
    assert.deepEqual(retry, { ...kept, replayed: true });
  },
};

/** The requirements of `PetStorage.import`. */
export const importRequirements: Requirements = {
  "imports the pets that are missing under their ids, or, if another pet has one, none; later ids are greater":
    async (storage) => {
      const [first] = await createPets(storage, [aPet({ name: "first" })]);
      assert.ok(first);
      const last = first.id + 2n ** 60n;
      const moved = [last, first.id + 3n, first.id + 2n].map((id) => ({ ...aPet(), id }));
      const expected = [first, ...moved.toReversed()];
      const one: Pet = { ...aPet(), id: last };
      assert.equal((await valueOf(storage.pets.import([...moved, first, one]))).added, 3);
      assert.deepEqual(await allPets(storage), expected);
      const missing: Pet = { ...aPet(), id: first.id + 9n };
      for (const [field, [, other]] of Object.entries(petValues)) {
        for (const pet of [first, one, missing]) {
          const pets: Pet[] = [missing, { ...pet, [field]: other }];
          const { added, conflict } = await valueOf(storage.pets.import(pets));
          assert.deepEqual([added, conflict], [0, pet.id]);
        }
      }
      assert.deepEqual(await valueOf(storage.pets.find(last)), one);
      const [added, next] = await Promise.all([
        valueOf(storage.pets.import([{ ...aPet(), id: last + 5n }])),
        valueOf(storage.pets.create(aPet())),
      ]);
      assert.ok(added.added === 1 && next.id > last);
      assert.ok((await valueOf(storage.pets.create(aPet()))).id > last + 5n);
      assert.equal((await allPets(storage)).length, expected.length + 3);
      assert.equal((await valueOf(storage.pets.import([...moved, first]))).added, 0);
      assert.equal((await valueOf(storage.pets.import([...moved, missing, first]))).added, 1);
      assert.equal((await allPets(storage)).length, expected.length + 4);
    },
};
