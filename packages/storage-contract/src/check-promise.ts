import type { Storage } from "@petstore/core";
import type { StoragePromise } from "./storage-promise.js";
import type { StorageUnderTest } from "./storage-under-test.js";

/** Checks one promise in a place of its own. Rejects when the storage breaks it. */
export async function checkPromise(
  promise: StoragePromise,
  storage: Pick<StorageUnderTest, "createPlace">,
): Promise<void> {
  const place = await storage.createPlace();
  const opened: Storage[] = [];
  try {
    await promise.check(async () => {
      const fresh = await place.open();
      opened.push(fresh);
      return fresh;
    });
  } finally {
    for (const each of opened) await each.close();
    await place.remove();
  }
}
