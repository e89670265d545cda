import assert from "node:assert/strict";
import { petStatuses, type Pet } from "@petstore/core";
import {
  INT64_MAX,
  type Creation,
  type CreationRequest,
  type Storage,
} from "@petstore/core/storage";
import { allPets, valueOf } from "./calls.js";
import type { StorageRequirement } from "./requirement.js";
import { aPet } from "./samples.js";

const START = 1_900_000_000_000;
const EXPIRY = START + 1_000;

/** The requirements of `PetStorage.createOnce`. */
export const creationRequirements: readonly StorageRequirement[] = [
  {
    name: "adds one pet for each token, even when twins arrive at once, and plain creates between them",
    async check(open) {
      const storage = await open();
      const [first, twin, plain, other] = await Promise.all([
        createOnce(storage),
        createOnce(storage),
        valueOf(storage.pets.create(aPet())),
        createOnce(storage, { token: "other" }),
      ]);
      assert.deepEqual([first.replayed, twin.replayed, other.replayed], [false, true, false]);
      assert.equal(twin.petId, first.petId);
      const retry = await createOnce(storage);
      assert.deepEqual(retry, { ...first, replayed: true });
      const ids = [first.petId, plain.id, other.petId];
      assert.deepEqual(
        (await allPets(storage)).map(({ id }) => id),
        ids.toSorted((a, b) => (a < b ? -1 : 1)),
      );
    },
  },
  {
    name: "stores the pet of a creation exact, and finds and lists it at once, by status, too, like one that is imported",
    async check(open) {
      const storage = await open();
      const all: Pet[] = [];
      const assertAdded = async (pet: Pet) => {
        all.push(pet);
        assert.deepEqual(await valueOf(storage.pets.find(pet.id)), pet);
        const ofStatus = all.filter(({ status }) => status === pet.status);
        assert.deepEqual(await allPets(storage, { status: pet.status }), ofStatus);
        assert.deepEqual(await allPets(storage), all);
      };
      for (const [index, status] of petStatuses.entries()) {
        const pet = aPet({ name: `🐈 ${status}`, categoryId: INT64_MAX - BigInt(index), status });
        const request = aRequest({ token: status });
        const { petId } = await valueOf(storage.pets.createOnce(pet, request));
        await assertAdded({ id: petId, ...pet });
        const imported = { ...pet, id: petId + 10n };
        assert.equal((await valueOf(storage.pets.import([imported]))).added, 1);
        await assertAdded(imported);
      }
    },
  },
  {
    name: "gives creations and other pets ascending ids, each greater than every earlier one",
    async check(open) {
      const storage = await open();
      let last = 0n;
      for (let index = 0; index < 5; index += 1) {
        const { petId } = await createOnce(storage, { token: `token ${index}` });
        assert.ok(petId > last, `${petId} follows ${last}`);
        ({ id: last } = await valueOf(storage.pets.create(aPet())));
        assert.ok(last > petId, `${last} follows ${petId}`);
      }
    },
  },
  {
    name: "returns the first creation for another pet under its token, and adds nothing",
    async check(open) {
      const storage = await open();
      const first = await createOnce(storage);
      const pet = aPet({ name: "another" });
      const request = aRequest({ fingerprint: "of another pet", expiresAt: EXPIRY + 1 });
      const second = await valueOf(storage.pets.createOnce(pet, request));
      assert.deepEqual(second, { ...first, replayed: true });
      assert.equal(second.fingerprint, "of a pet");
      assert.equal(second.expiresAt, EXPIRY);
      assert.equal((await allPets(storage)).length, 1);
    },
  },
  {
    name: "remembers a creation until the millisecond of its expiry, and then adds another pet",
    async check(open) {
      const storage = await open();
      const first = await createOnce(storage);
      assert.ok((await createOnce(storage, { now: EXPIRY - 1 })).replayed);
      const again = { now: EXPIRY, expiresAt: EXPIRY + 1 };
      const second = await createOnce(storage, again);
      assert.ok(!second.replayed && second.petId > first.petId);
      assert.deepEqual(await createOnce(storage, again), { ...second, replayed: true });
    },
  },
  {
    name: "remembers every creation that has not expired, however many others have",
    async check(open) {
      const storage = await open();
      const kept = await createOnce(storage, { token: "kept", expiresAt: EXPIRY + 1 });
      for (let index = 0; index < 5; index += 1) {
        await createOnce(storage, { token: `expires ${index}` });
      }
      for (let index = 0; index < 5; index += 1) {
        await createOnce(storage, {
          token: `new ${index}`,
          now: EXPIRY,
          expiresAt: EXPIRY + 1_000,
        });
      }
      const retry = await createOnce(storage, { token: "kept", now: EXPIRY });
      assert.deepEqual(retry, { ...kept, replayed: true });
    },
  },
  {
    name: "remembers creations after it is reopened",
    needs: "reopening",
    async check(open) {
      const before = await open();
      const first = await createOnce(before);
      await valueOf(before.close());
      assert.deepEqual(await createOnce(await open()), { ...first, replayed: true });
    },
  },
  {
    name: "adds one pet for each token when two storages on the same data create at once",
    needs: "sharing",
    async check(open) {
      const storages = [await open(), await open()];
      for (let round = 0; round < 10; round += 1) {
        const twins = storages.map((storage) => createOnce(storage, { token: `token ${round}` }));
        const creations = await Promise.all(twins);
        assert.equal(new Set(creations.map(({ petId }) => petId)).size, 1);
        assert.equal(creations.filter(({ replayed }) => replayed).length, 1);
      }
      for (const storage of storages) assert.equal((await allPets(storage)).length, 10);
    },
  },
];

function aRequest(changes: Partial<CreationRequest> = {}): CreationRequest {
  return { token: "token", fingerprint: "of a pet", now: START, expiresAt: EXPIRY, ...changes };
}

function createOnce(storage: Storage, changes?: Partial<CreationRequest>): Promise<Creation> {
  return valueOf(storage.pets.createOnce(aPet(), aRequest(changes)));
}
