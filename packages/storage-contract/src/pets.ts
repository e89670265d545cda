import assert from "node:assert/strict";
import { petStatuses, type Pet, type PetStatus } from "@petstore/core";
import { INT64_MAX, PAGE_BYTES } from "@petstore/core/storage";
import { INT64_MIN } from "@petstore/core/internal";
import { allPets, createPets, valueOf } from "./calls.js";
import type { StorageRequirement } from "./requirement.js";
import { aPet } from "./samples.js";

const beyondDouble = 2n ** 53n + 1n;

/** The requirements of `PetStorage`. */
export const petRequirements: readonly StorageRequirement[] = [
  {
    name: "gives each pet its own positive id, even when many are created at once",
    async check(open) {
      const storage = await open();
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
  },
  {
    name: "gives a pet a greater id than every pet before it",
    async check(open) {
      const created = await createPets(
        await open(),
        Array.from({ length: 12 }, () => aPet()),
      );
      for (const [index, { id }] of created.entries()) {
        const before = created[index - 1]?.id ?? 0n;
        assert.ok(id > before, `${id} follows ${before}`);
      }
    },
  },
  {
    name: "keeps every int64 categoryId exact",
    async check(open) {
      const storage = await open();
      const categoryIds = [0n, 1n, -1n, beyondDouble, -beyondDouble, INT64_MAX, INT64_MIN];
      for (const categoryId of categoryIds) {
        const created = await valueOf(storage.pets.create(aPet({ categoryId })));
        assert.equal(created.categoryId, categoryId);
        assert.equal((await valueOf(storage.pets.find(created.id)))?.categoryId, categoryId);
      }
      assert.deepEqual(
        (await allPets(storage)).map(({ categoryId }) => categoryId),
        categoryIds,
      );
    },
  },
  {
    name: "keeps every name exact",
    async check(open) {
      const storage = await open();
      const names = [
        "",
        " padded ",
        'O\'Malley; "drop" --`%_\\',
        "two\nlines\r\nand a\ttab",
        "🐕‍🦺 and \u{10FFFF}",
        "caf\u00e9",
        "cafe\u0301",
        "\uFEFF\uFFFD\uFFFF",
        "12",
        "1e3",
        "long ".repeat(20_000),
      ];
      for (const name of names) {
        const created = await valueOf(storage.pets.create(aPet({ name })));
        assert.equal(created.name, name);
        assert.equal((await valueOf(storage.pets.find(created.id)))?.name, name);
      }
      assert.deepEqual(
        (await allPets(storage)).map(({ name }) => name),
        names,
      );
    },
  },
  {
    name: "finds a pet by its id, with every field that it was created with",
    async check(open) {
      const storage = await open();
      for (const status of petStatuses) {
        const pet = aPet({ name: `a pet that is ${status}`, status });
        const created = await valueOf(storage.pets.create(pet));
        assert.deepEqual(created, { id: created.id, ...pet });
        assert.deepEqual(await valueOf(storage.pets.find(created.id)), created);
      }
    },
  },
  {
    name: "returns undefined for an id that no pet has",
    async check(open) {
      const storage = await open();
      assert.equal(await valueOf(storage.pets.find(1n)), undefined);
      const { id } = await valueOf(storage.pets.create(aPet()));
      // Rounded to a double or cut to 32 bits, some of these are the id of the pet.
      const missing = [id + 1n, id - 1n, -id, 0n, id + 2n ** 32n, beyondDouble];
      for (const each of [...missing, INT64_MAX, INT64_MIN]) {
        assert.equal(await valueOf(storage.pets.find(each)), undefined, `found ${each}`);
      }
    },
  },
  {
    name: "lists whole pets in ascending order of id",
    async check(open) {
      const storage = await open();
      assert.deepEqual(await allPets(storage), []);
      const pets = Array.from({ length: 12 }, (_, index) =>
        aPet({
          name: `pet ${12 - index}`,
          categoryId: BigInt(-index),
          status: statusAt(index * 2),
        }),
      );
      const created = await createPets(storage, pets);
      assert.deepEqual(await allPets(storage), created);
    },
  },
  {
    name: "lists exactly the pets with the given status, page after page",
    async check(open) {
      const storage = await open();
      const pets = Array.from({ length: 15 }, (_, index) => aPet({ status: statusAt(index % 2) }));
      const created = await createPets(storage, pets);
      for (const status of petStatuses) {
        assert.deepEqual(
          await allPets(storage, { status, limit: 3 }),
          created.filter((pet) => pet.status === status),
        );
      }
    },
  },
  {
    name: "ends a page at its limit, and sets next only when another page follows",
    async check(open) {
      const storage = await open();
      // The sold pet must not count as a next pet on a page of available ones.
      const pets = [...Array.from({ length: 5 }, () => aPet()), aPet({ status: "sold" })];
      const created = await createPets(storage, pets);
      for (const status of [undefined, "available"] as const) {
        const inOrder = created.filter((pet) => status === undefined || pet.status === status);
        for (let start = 0; start <= inOrder.length; start += 1) {
          for (let limit = 1; limit <= inOrder.length + 1; limit += 1) {
            const after = inOrder[start - 1]?.id;
            const page = await valueOf(storage.pets.list({ limit, status, after }));
            const end = start + limit;
            assert.deepEqual(page.pets, inOrder.slice(start, end));
            const next = end < inOrder.length ? inOrder[end - 1]?.id : undefined;
            assert.equal(page.next, next, `next after ${limit} from ${start} of ${inOrder.length}`);
          }
        }
      }
    },
  },
  {
    name: "ends a page before its JSON is too long, but not before its first pet",
    async check(open) {
      const storage = await open();
      const escaped = "\u0001".repeat(LARGE / 6);
      const names = Array.from({ length: 24 }, (_, index) =>
        index % 8 === 0 ? escaped : `${"x".repeat(LARGE)}Ж`,
      );
      const longer = "y".repeat(PAGE_BYTES + 1);
      const pets = [longer, ...names, longer, longer, "short"].map((name) => aPet({ name }));
      const created = await createPets(storage, pets);
      for (const status of [undefined, "available"] as const) {
        const listed: Pet[] = [];
        let after: bigint | undefined;
        do {
          const page = await valueOf(storage.pets.list({ limit: 100, status, after }));
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
  },
  {
    name: "lists the pets after any int64, whether a pet has that id or not",
    async check(open) {
      const storage = await open();
      const created = await createPets(storage, [aPet(), aPet(), aPet()]);
      const lastId = created.at(-1)?.id ?? 0n;
      for (const status of [undefined, "available"] as const) {
        for (const after of [0n, -1n, INT64_MIN]) {
          assert.deepEqual(await allPets(storage, { status, after }), created);
        }
        for (const after of [lastId, lastId + 1n, beyondDouble, INT64_MAX]) {
          const page = await valueOf(storage.pets.list({ limit: 10, status, after }));
          assert.deepEqual(page.pets, []);
          assert.equal(page.next, undefined);
        }
      }
    },
  },
  {
    name: "lists a pet as soon as its create has resolved",
    async check(open) {
      const storage = await open();
      const query = { limit: 100, status: "sold", after: undefined } as const;
      for (let count = 1; count <= 10; count += 1) {
        const created = await valueOf(storage.pets.create(aPet({ status: "sold" })));
        const page = await valueOf(storage.pets.list(query));
        assert.equal(page.pets.length, count);
        assert.deepEqual(page.pets.at(-1), created);
      }
    },
  },
];

/** The size of a name in JSON, in bytes. */
const LARGE = 60_000;

function jsonBytes(pets: readonly Pet[]): number {
  return Buffer.byteLength(
    JSON.stringify(pets, (_key, value: unknown) =>
      typeof value === "bigint" ? Number(value) : value,
    ),
  );
}

function statusAt(index: number): PetStatus {
  return petStatuses[index % petStatuses.length] ?? "available";
}
