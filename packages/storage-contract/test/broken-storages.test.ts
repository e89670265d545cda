import { AssertionError } from "node:assert";
import { checkPromise, storagePromises } from "@petstore/storage-contract";
import { describe, expect, it } from "vitest";
import { brokenKeys } from "./broken-keys.js";
import { brokenLifecycle } from "./broken-lifecycle.js";
import { brokenPets } from "./broken-pets.js";
import { brokenUsage } from "./broken-usage.js";
import { memoryPlace } from "./memory-place.js";

const broken = [...brokenPets, ...brokenKeys, ...brokenUsage, ...brokenLifecycle];

describe("every promise", () => {
  it.each(storagePromises)("is kept by a sound storage: $name", async (promise) => {
    await checkPromise(promise, { createPlace: () => Promise.resolve(memoryPlace()) });
  });

  it("is broken by one of the storages below", () => {
    const names = new Set(storagePromises.map(({ name }) => name));
    expect(new Set(broken.map(([name]) => name))).toEqual(names);
  });
});

describe("the suite catches a storage that", () => {
  it.each(broken)("does not keep «%s»: it %s", async (name, _flaw, change) => {
    const promise = storagePromises.find((each) => each.name === name);
    expect(promise).toBeDefined();
    if (promise === undefined) return;
    const checked = checkPromise(promise, {
      createPlace: () => Promise.resolve(memoryPlace(change)),
    });
    await expect(checked).rejects.toBeInstanceOf(AssertionError);
  });
});
