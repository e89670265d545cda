import { failureOf, valueOf } from "../answers.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyCall } from "./every-call.js";

export const closed: StoragePromise = {
  name: "answers every call after it was closed with a failure, as a value",
  async check(open) {
    const storage = await open();
    await valueOf(storage.close());
    for (const call of everyCall(storage)) await failureOf(call);
  },
};
