import { createMemoryStorage } from "@petstore/core";
import { storageContract } from "@petstore/storage-contract";
import { describe, it } from "vitest";

storageContract(
  { describe, it },
  {
    name: "the memory storage",
    createPlace: () =>
      Promise.resolve({
        open: () => Promise.resolve(createMemoryStorage()),
        remove: () => Promise.resolve(),
      }),
    withoutPromise: {
      reopening: "a memory storage forgets everything when it is closed",
      sharing: "every memory storage has data of its own",
    },
  },
);
