import { AssertionError } from "node:assert";
import { checkRequirement, storageRequirements } from "@petstore/storage-contract";
import { describe, expect, it } from "vitest";
import { brokenKeys } from "./broken-keys.js";
import { brokenLifecycle } from "./broken-lifecycle.js";
import { brokenPets } from "./broken-pets.js";
import { brokenUsage } from "./broken-usage.js";
import { memoryFixture } from "./memory-fixture.js";

const broken = { ...brokenPets, ...brokenKeys, ...brokenUsage, ...brokenLifecycle };

it("every requirement has its own name and is broken by at least one storage", () => {
  const names = storageRequirements.map(({ name }) => name);
  expect(Object.keys(broken).toSorted()).toEqual(names.toSorted());
});

describe.each(storageRequirements)("$name", (requirement) => {
  it("is met by a sound storage", async () => {
    await checkRequirement(requirement, { createFixture: () => Promise.resolve(memoryFixture()) });
  });

  it.each(Object.entries(broken[requirement.name] ?? {}))(
    "is not met by a storage that %s",
    async (_flaw, change) => {
      const createFixture = () => Promise.resolve(memoryFixture(change));
      const checked = checkRequirement(requirement, { createFixture });
      await expect(checked).rejects.toBeInstanceOf(AssertionError);
    },
  );
});
