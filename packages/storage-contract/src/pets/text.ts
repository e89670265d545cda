import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

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

export const text: StoragePromise = {
  name: "keeps every name exact",
  async check(open) {
    const storage = await open();
    for (const name of names) {
      const created = await valueOf(storage.pets.create(aPet({ name })));
      assert.equal(created.name, name);
      assert.equal((await valueOf(storage.pets.find(created.id)))?.name, name);
    }
    const listed = await everyPet(storage);
    assert.deepEqual(
      listed.map((pet) => pet.name),
      names,
    );
  },
};
