import { valueOf } from "../answers.js";
import type { StoragePromise } from "../storage-promise.js";

export const closeTwice: StoragePromise = {
  name: "is closed twice as well as once, also at once",
  async check(open) {
    const storage = await open();
    await Promise.all([valueOf(storage.close()), valueOf(storage.close())]);
    await valueOf(storage.close());
  },
};
