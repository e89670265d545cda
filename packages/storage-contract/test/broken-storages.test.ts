import { AssertionError } from "node:assert";
import { checkRequirement, storageRequirements } from "@petstore/storage-contract";
import { describe, expect, it } from "vitest";
import { brokenCreations } from "./broken-creations.js";
import { brokenKeys } from "./broken-keys.js";
import { brokenLifecycle } from "./broken-lifecycle.js";
import { brokenPets } from "./broken-pets.js";
import { brokenUsage } from "./broken-usage.js";
import { memoryPlace } from "./memory-place.js";

const broken = {
  ...brokenPets,
  ...brokenCreations,
  ...brokenKeys,
  ...brokenUsage,
  ...brokenLifecycle,
};

it("every requirement has its own name and is broken by at least one storage", () => {
  const names = storageRequirements.map(({ name }) => name);
  expect(Object.keys(broken).toSorted()).toEqual(names.toSorted());
});

describe.each(storageRequirements)("$name", (requirement) => {
  it("is met by a sound storage", async () => {
    await checkRequirement(requirement, { createPlace: () => Promise.resolve(memoryPlace()) });
  });

  it.each(Object.entries(broken[requirement.name] ?? {}))(
    "is not met by a storage that %s",
    async (_flaw, change) => {
      const createPlace = () => Promise.resolve(memoryPlace(change));
      const checked = checkRequirement(requirement, { createPlace });
      await expect(checked).rejects.toBeInstanceOf(AssertionError);
    },
  );
});
