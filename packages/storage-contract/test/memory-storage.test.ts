import { createMemoryStorage } from "@petstore/core";
import { storageContract } from "@petstore/storage-contract";
import { describe, it } from "vitest";

storageContract(
  { describe, it },
  {
    name: "the memory storage",
    createFixture: () =>
      Promise.resolve({
        open: () => Promise.resolve(createMemoryStorage()),
        remove: () => Promise.resolve(),
      }),
    unsupported: {
      reopening: "a memory storage loses its data when it is closed",
      sharing: "every memory storage has its own data",
    },
  },
);
