import assert from "node:assert/strict";
import type { Pet } from "@petstore/core";
import { INT64_MIN, petFilters, type PetFilter } from "@petstore/core/internal";
import { INT64_MAX, PAGE_BYTES, type PetStorage } from "@petstore/core/storage";
import { allPets, createOnce, createPets, listPets, valueOf, waysToAdd } from "../calls.js";
import type { CallsOf, Requirements, RequirementsOf } from "../requirement.js";
import {
  aPet,
  aRequest,
  beyondDouble,
  filteredPets,
  filters,
  firstPage,
  unusualPets,
} from "../samples.js";
import { creationRequirements, importRequirements } from "./creations.js";

export const petCalls: CallsOf<PetStorage> = ({ pets }) => ({
  create: () => pets.create(aPet()),
  createOnce: () => pets.createOnce(aPet(), aRequest()),
  import: () => pets.import([{ ...aPet(), id: 9n }]),
  find: () => pets.find(1n),
  list: () => pets.list(firstPage),
});

export const petRequirements: RequirementsOf<PetStorage> = {
  create: {
    "gives each pet its own positive id, even when many are created at once": async (storage) => {
      const names = Array.from({ length: 50 }, (_, index) => `pet ${index}`);
      const created = await Promise.all(
        names.map((name) => valueOf(storage.pets.create(aPet({ name })))),
      );
      assert.ok(created.every(({ id }) => typeof id === "bigint" && id > 0n));
      assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
      assert.deepEqual(
        created.map(({ name }) => name),
        names,
        "each call must resolve to its own pet",
      );
      assert.equal((await allPets(storage)).length, created.length);
    },
    "gives a pet a greater id than every pet before it, however they are added": async (
      storage,
    ) => {
      let last = 0n;
      for (const add of waysToAdd.flatMap((one) => waysToAdd.flatMap((next) => [one, next]))) {
        const { id } = await add(storage, aPet(), last + 1n);
        assert.ok(id > last, `${id} follows ${last}`);
        last = id;
      }
    },
    "keeps every field of a pet exact, however it is added, in find and in list": async (
      storage,
    ) => {
      const all: Pet[] = [];
      for (const pet of unusualPets) {
        for (const add of waysToAdd) {
          const added = await add(storage, pet, (all.at(-1)?.id ?? 0n) + 10n);
          assert.deepEqual(added, { id: added.id, ...pet });
          assert.deepEqual(await valueOf(storage.pets.find(added.id)), added);
          all.push(added);
        }
      }
      assert.deepEqual(await allPets(storage), all);
    },
  },
  createOnce: creationRequirements,
  import: importRequirements,
  find: {
    "returns undefined for an id that no pet has": async (storage) => {
      assert.equal(await valueOf(storage.pets.find(1n)), undefined);
      const { id } = await valueOf(storage.pets.create(aPet()));
      // Rounded to a double or cut to 32 bits, some of these are the id of the pet.
      const missing = [id + 1n, id - 1n, -id, 0n, id + 2n ** 32n, beyondDouble];
      for (const each of [...missing, INT64_MAX, INT64_MIN]) {
        assert.equal(await valueOf(storage.pets.find(each)), undefined, `found ${each}`);
      }
    },
  },
  list: {
    "lists exactly the pets that pass the filters, in ascending order of id, and sets next only when another page follows":
      async (storage) => {
        assert.deepEqual(await allPets(storage), []);
        const pets = [...filteredPets, ...filteredPets.toReversed(), aPet()];
        const created = await createPets(storage, pets);
        for (const filter of filters) {
          const inOrder = passing(created, filter);
          for (let start = 0; start <= inOrder.length; start += 1) {
            for (let limit = 1; limit <= inOrder.length + 1; limit += 1) {
              const after = inOrder[start - 1]?.id;
              const page = await listPets(storage, { ...filter, limit, after });
              const end = start + limit;
              const next = end < inOrder.length ? inOrder[end - 1]?.id : undefined;
              assert.deepEqual(page, { pets: inOrder.slice(start, end), next });
            }
          }
        }
      },
    "ends a page before its JSON is too long, but not before its first pet": async (storage) => {
      const escaped = "\u0001".repeat(LARGE / 6);
      const names = Array.from({ length: 24 }, (_, index) =>
        index % 8 === 0 ? escaped : "Ж".repeat(LARGE / 2),
      );
      const longer = "y".repeat(PAGE_BYTES + 1);
      const pets = [longer, ...names, longer, longer, "short"].map((name) => aPet({ name }));
      const created = await createPets(storage, pets);
      for (const status of [undefined, "available"] as const) {
        const listed: Pet[] = [];
        let after: bigint | undefined;
        do {
          const page = await listPets(storage, { status, after });
          const isAlone = page.pets.length === 1;
          assert.ok(isAlone || jsonBytes(page.pets) <= PAGE_BYTES, "a page is too long");
          const following = created[listed.length + page.pets.length];
          const isFull = following && jsonBytes([...page.pets, following]) > PAGE_BYTES - LARGE;
          assert.ok(isFull ?? page.next === undefined, "a page ends early");
          listed.push(...page.pets);
          after = page.next;
        } while (after !== undefined);
        assert.deepEqual(listed, created);
      }
    },
    "lists the pets after any int64, whether a pet has that id or not": async (storage) => {
      const created = await createPets(storage, filteredPets);
      const lastId = created.at(-1)?.id ?? 0n;
      for (const filter of filters) {
        for (const after of [0n, -1n, INT64_MIN]) {
          const listed = await allPets(storage, { ...filter, after });
          assert.deepEqual(listed, passing(created, filter));
        }
        for (const after of [lastId, lastId + 1n, beyondDouble, INT64_MAX]) {
          const page = await listPets(storage, { ...filter, after });
          assert.deepEqual(page, { pets: [], next: undefined });
        }
      }
    },
    "finds and lists a pet as soon as it is added, however it is added": async (storage) => {
      const all: Pet[] = [];
      for (const pet of filteredPets) {
        for (const add of waysToAdd) {
          all.push(await add(storage, pet, (all.at(-1)?.id ?? 0n) + 1n));
          for (const filter of filters) {
            assert.deepEqual(await allPets(storage, filter), passing(all, filter));
          }
        }
      }
    },
  },
};

/** The requirements on the pets of a storage that is opened again. */
export const reopenedPetRequirements: Requirements = {
  "remembers creations after it is reopened": async (before, open) => {
    const first = await createOnce(before);
    await valueOf(before.close());
    assert.deepEqual(await createOnce(await open()), { ...first, replayed: true });
  },
  "reuses no id after it is reopened": async (before, open) => {
    const created = await createPets(before, unusualPets);
    await valueOf(before.close());
    const next = await valueOf((await open()).pets.create(aPet()));
    assert.ok(created.every(({ id }) => id < next.id));
  },
};

function passing(pets: readonly Pet[], filter: PetFilter): readonly Pet[] {
  return pets.filter((pet) =>
    petFilters.every((field) => filter[field] === undefined || filter[field] === pet[field]),
  );
}

/** The size of a name in JSON, in bytes. */
const LARGE = 60_000;

function jsonBytes(pets: readonly Pet[]): number {
  return Buffer.byteLength(
    JSON.stringify(pets, (_key, value: unknown) =>
      typeof value === "bigint" ? Number(value) : value,
    ),
  );
}
