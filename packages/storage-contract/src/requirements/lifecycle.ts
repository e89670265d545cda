import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { Storage } from "@petstore/core/storage";
import { assertFails, insertKeys, listPets, valueOf } from "../calls.js";
import type { Call, Requirements } from "../requirement.js";
import { keyCalls } from "./keys.js";
import { petCalls } from "./pets.js";
import { usageCalls } from "./usage.js";

/** The requirements on the clock, and on closing a storage. */
export const closingRequirements: Requirements = {
  "fails every call after close, with an Err value": async (storage) => {
    // The storage may remember the page.
    await listPets(storage);
    const closing = valueOf(storage.close());
    const calls = callsOfEveryMember(storage);
    await Promise.all(calls.map(assertFails));
    await closing;
    for (const call of calls) await assertFails(call);
  },
  "can be closed twice, one after the other or at once": async (storage) => {
    await Promise.all([valueOf(storage.close()), valueOf(storage.close())]);
    await valueOf(storage.close());
  },
  "completes the calls of every member that are under way before its close resolves": async (
    storage,
  ) => {
    await insertKeys(storage, "a");
    let completed = 0;
    const running = callsOfEveryMember(storage).map(async (call) => {
      const result = await call();
      completed += 1;
      return result.isOk();
    });
    await valueOf(storage.close());
    // The last of them may resolve in the same turn.
    await setImmediate();
    const before = completed;
    assert.ok((await Promise.all(running)).every(Boolean), "close failed a call");
    assert.equal(before, running.length, "close resolved before a call that was under way");
  },
  "has a clock, if any, that returns milliseconds since the Unix epoch, and one that is never set back":
    async ({ clock }) => {
      let last = -Infinity;
      for (let count = 0; clock && count < 10; count += 1) {
        const now = clock.now();
        assert.ok(now > MILLISECONDS && now <= MAX_TIME, `the time is ${now}`);
        const monotonic = clock.monotonic?.() ?? 0;
        assert.ok(monotonic >= last, `${monotonic} follows ${last}`);
        last = monotonic;
        await setImmediate();
      }
    },
};

/** A time of 2001. In seconds, it is one of the year 33658. */
const MILLISECONDS = 1_000_000_000_000;

/** The latest time that a `Date` can represent. */
const MAX_TIME = 8_640_000_000_000_000;

/** A call of every member of the port except `close`. */
function callsOfEveryMember(storage: Storage): readonly Call[] {
  const ports = [petCalls(storage), keyCalls(storage), usageCalls(storage)];
  return ports.flatMap((calls) => Object.values<Call>(calls));
}
