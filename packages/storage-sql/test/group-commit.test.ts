// The grouping of commits is shared by databases in this process and across a network.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { storageFailure } from "@petstore/core";
import { createGroupCommit, type GroupCommitOptions } from "../src/commit/group-commit.js";
import {
  AGAIN,
  CallFailure,
  type Call,
  type Commit,
  type CommitErrors,
} from "../src/commit/commit.js";
import { backoffBefore, retryWhileBusy } from "../src/commit/retry.js";
import { expect, it, onTestFinished, vi } from "vitest";

class Busy extends Error {}

const errors: CommitErrors = {
  isBusy: (error) => error instanceof Busy,
  isCausedByCall: (error) => error instanceof RangeError,
  toFailure: (name, error) => storageFailure(`${name} failed.`, error),
};
const kind = { storage: "sqlite", group: "writes" } as const;

/** A group of named calls that commits like this. */
function createGroup(
  commit: Commit<undefined, string>,
  options: Partial<GroupCommitOptions<undefined, string>> = {},
) {
  return createGroupCommit<undefined, string>({
    commit,
    errors,
    kind,
    timeout: 0,
    now: () => 0,
    ...options,
  });
}

/** A database whose commits end when the test says so. */
function createDatabase(timeout = 0, gatherTurns = 0) {
  let time = 0;
  const ends: ((error?: Error) => void)[] = [];
  const batches: number[] = [];
  const group = createGroupCommit<string[]>({
    commit: async <T>(calls: readonly Call<string[], void, T>[]) => {
      batches.push(calls.length);
      const results = calls.map(({ work }) => work([]));
      await new Promise<void>((resolve, reject) => {
        ends.push((error) => (error ? reject(error) : resolve()));
      });
      return results;
    },
    errors,
    kind,
    timeout,
    gatherTurns,
    now: () => time,
  });
  const endNext = async (error?: Error): Promise<void> => {
    while (ends.length === 0) await setImmediate();
    ends.shift()?.(error);
  };
  return {
    group,
    batches,
    endNext,
    advance: (milliseconds: number) => void (time += milliseconds),
  };
}

it("calls that arrive during a commit share the next", async () => {
  const { group, batches, endNext } = createDatabase();
  const first = group.add("first", () => 1);
  while (batches.length === 0) await setImmediate();
  const later = [2, 3].map((value) => group.add("later", () => value));
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  expect(batches).toEqual([1]);
  await endNext();
  expect((await first)._unsafeUnwrap()).toBe(1);
  await endNext();
  expect((await Promise.all(later)).map((result) => result._unsafeUnwrap())).toEqual([2, 3]);
  expect(batches).toEqual([1, 2]);
});

it("publishes how long each transaction waited and took, and whether it failed", async () => {
  const signals: unknown[] = [];
  const collect = (signal: unknown) => void signals.push(signal);
  subscribe("petstore:transaction", collect);
  onTestFinished(() => void unsubscribe("petstore:transaction", collect));
  const { group, endNext, advance } = createDatabase(1_000);
  const calls = [group.add("first", () => 1)];
  await setImmediate();
  advance(3);
  calls.push(
    group.add("second", () => 2),
    group.add("third", () => 3),
  );
  advance(4);
  await endNext();
  await calls[0];
  await setImmediate();
  advance(5);
  await endNext(new Error("The disk is full."));
  await Promise.all(calls);
  expect(signals).toEqual([
    { ...kind, calls: 1, waitMilliseconds: 0, commitMilliseconds: 7, failed: false },
    { ...kind, calls: 2, waitMilliseconds: 4, commitMilliseconds: 5, failed: true },
  ]);
});

it("a group that gathers waits for calls of later turns while calls share its commits", async () => {
  const { group, batches, endNext } = createDatabase(0, 3);
  const addAfter = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    return group.add("call", () => 1);
  };
  const calls = [addAfter(0), addAfter(0)];
  await setImmediate();
  expect(batches).toEqual([2]);
  await endNext();
  await Promise.all(calls);
  calls.push(addAfter(0), addAfter(1), addAfter(2));
  await endNext();
  await Promise.all(calls);
  expect(batches).toEqual([2, 3]);
});

it("a group that gathers does not wait for others while each call has a commit of its own", async () => {
  const { group, batches, endNext } = createDatabase(0, 3);
  for (const size of [1, 2]) {
    const call = group.add("call", () => size);
    await setImmediate();
    expect(batches).toHaveLength(size);
    await endNext();
    await call;
    await setImmediate();
  }
});

it("calls that follow those of a group that gathers are committed in the turn in which it commits", async () => {
  const log: string[] = [];
  const logged =
    (name: string): Commit<undefined, string> =>
    (calls) => {
      log.push(`${name} ${calls.length}`);
      return calls.map(({ work }) => work(undefined));
    };
  const following = createGroup(logged("following"));
  const first = createGroup(logged("first"), { gatherTurns: 3, followedBy: [following] });
  const call = async () => {
    await first.add("call", () => 1, "");
    await following.add("call that follows", () => 2, "");
  };
  for (const gathered of [0, 3]) {
    log.length = 0;
    const calls = [call(), call()];
    for (let turn = 0; turn < gathered; turn += 1) await setImmediate();
    expect(log).toEqual([]);
    await setImmediate();
    expect(log).toEqual(["first 2", "following 2"]);
    await Promise.all(calls);
  }
  log.length = 0;
  await first.add("call without another", () => 1, "");
  await setImmediate();
  expect(log).toEqual(["first 1"]);
});

it("is scheduled once for the calls of a turn", async () => {
  let scheduled = 0;
  const following = { schedule: () => void (scheduled += 1) };
  const group = createGroup((calls) => calls.map(({ work }) => work(undefined)), {
    followedBy: [following],
  });
  await Promise.all(["a", "b", "c"].map((name) => group.add(name, () => 1, name)));
  expect(scheduled).toBe(1);
});

it("when one call makes a commit fail, each of its calls is committed separately", async () => {
  const { group, batches, endNext } = createDatabase();
  const calls = [1, 2, 3].map((value) => group.add(String(value), () => value));
  await endNext(new RangeError());
  await endNext();
  await endNext(new RangeError());
  await endNext();
  expect((await Promise.all(calls)).map((result) => result.isOk())).toEqual([true, false, true]);
  expect(batches).toEqual([3, 1, 1, 1]);
});

it("each call waits for a busy database until its own timeout", async () => {
  const { group, endNext, advance } = createDatabase(10);
  const early = group.add("early", () => 1);
  advance(6);
  const late = group.add("late", () => 2);
  await endNext(new Busy());
  advance(4);
  await endNext(new Busy());
  expect((await early)._unsafeUnwrapErr().message).toBe("early failed.");
  await endNext();
  expect((await late)._unsafeUnwrap()).toBe(2);
});

it("close waits for earlier calls, and refuses later ones", async () => {
  const { group, endNext } = createDatabase();
  const before = group.add("before", () => 1);
  const closed = group.close();
  expect((await group.add("after", () => 2))._unsafeUnwrapErr().message).toBe(
    "after failed: the storage is closed.",
  );
  await endNext();
  await closed;
  expect((await before).isOk()).toBe(true);
});

it("a close without calls ends at once, and a second one ends like the first", async () => {
  await createDatabase().group.close();
  const { group, endNext } = createDatabase();
  void group.add("call", () => 1);
  const closes = [group.close(), group.close()];
  await endNext();
  await Promise.all(closes);
});

it("takes as many calls into a transaction as it may, in the order of their arrival", async () => {
  const batches: string[][] = [];
  const commit: Commit<undefined, string> = (calls) => {
    batches.push(calls.map(({ subject }) => subject));
    return calls.map(({ work }) => work(undefined));
  };
  const group = createGroup(commit, { largestBatch: 2 });
  await Promise.all(["a", "b", "c", "d", "e"].map((name) => group.add(name, () => 1, name)));
  expect(batches).toEqual([["a", "b"], ["c", "d"], ["e"]]);
});

it("a call for which nothing was stored runs again, before later calls; one that failed does not", async () => {
  const batches: string[][] = [];
  const commit: Commit<undefined, string> = (calls) => {
    batches.push(calls.map(({ subject }) => subject));
    return calls.map(({ work, subject }) => {
      if (subject === "slow" && batches.length === 1) return AGAIN;
      return subject === "bad" ? new CallFailure("bad") : work(undefined);
    });
  };
  const group = createGroup(commit);
  const add = (name: string) => group.add(name, () => name, name);
  const slow = add("slow");
  const [bad, quick] = await Promise.all([add("bad"), add("quick")]);
  expect(bad._unsafeUnwrapErr()).toEqual({ message: "bad failed.", cause: "bad" });
  expect(quick._unsafeUnwrap()).toBe("quick");
  const later = add("later");
  expect([(await slow)._unsafeUnwrap(), (await later)._unsafeUnwrap()]).toEqual(["slow", "later"]);
  expect(batches).toEqual([
    ["slow", "bad", "quick"],
    ["slow", "later"],
  ]);
});

it("calls for which nothing is ever stored fail at their own timeout, and the next ones do not wait", async () => {
  let time = 0;
  let isFast = false;
  const now = () => time++;
  const group = createGroup(
    (calls) => calls.map(({ work }) => (isFast ? work(undefined) : AGAIN)),
    {
      timeout: 10,
      now,
    },
  );
  const failed = await group.add("call", () => 1, "");
  expect(failed._unsafeUnwrapErr()).toMatchObject({
    message: "call failed.",
    cause: { name: "Contention", message: "other processes kept changing the same row" },
  });
  expect(time).toBeGreaterThan(10);
  expect(time).toBeLessThan(20);
  isFast = true;
  expect((await group.add("call", () => 1, "")).isOk()).toBe(true);
});

it("a call whose commit does not end fails at its limit, and is over when the commit is", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let time = 0;
  let end: () => void = () => undefined;
  const commit: Commit<undefined, string> = async (calls) => {
    await new Promise<void>((resolve) => (end = resolve));
    return calls.map(({ work }) => work(undefined));
  };
  const group = createGroup(commit, { timeout: 100, limit: 1_000, now: () => time });
  let settled: unknown;
  const call = group.add("call", () => 1, "").then((result) => (settled = result));
  await setImmediate();
  for (const at of [250, 500, 750]) {
    time = at;
    vi.advanceTimersByTime(250);
    await setImmediate();
    expect(settled).toBeUndefined();
  }
  time = 751;
  vi.advanceTimersByTime(250);
  await call;
  expect(settled).toMatchObject({
    error: {
      cause: {
        name: "TooLate",
        message: "the database did not answer in time; a change may have been stored",
      },
    },
  });
  const { group: unlimited } = createDatabase();
  void unlimited.add("call", () => 1);
  await setImmediate();
  expect(vi.getTimerCount()).toBe(1);
  const next = group.add("next", () => 2, "");
  end();
  for (let turn = 0; turn < 2; turn += 1) await setImmediate();
  end();
  expect((await next)._unsafeUnwrap()).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

it("a retry waits for 20 turns of the event loop, then for 1 ms and up to 20 ms", () => {
  const waits = [0, 1, 20, 21, 22, 23, 24, 25, 26, 1_000].map(backoffBefore);
  expect(waits).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 20, 20]);
});

it("retries of a commit and of an action wait longer each time", async () => {
  /** Is busy so many times that the last waits are for 1, 2, 4, 8, 16 and three times 20 ms. */
  const createBusy = () => {
    let count = 0;
    return () => {
      count += 1;
      if (count <= 28) throw new Busy();
      return [];
    };
  };
  const { isBusy } = errors;
  const busyCommit = createBusy();
  const group = createGroup(
    (calls) => {
      busyCommit();
      return calls.map(({ work }) => work(undefined));
    },
    { timeout: 1 },
  );
  for (const retried of [
    () => group.add("call", () => 1, ""),
    () => retryWhileBusy({ timeout: 1, now: () => 0, isBusy }, createBusy()),
  ]) {
    const start = performance.now();
    await retried();
    expect(performance.now() - start).toBeGreaterThan(60);
  }
});

it.each([
  ["its timeout", 10, 10],
  ["an error that a retry does not help against", Infinity, 3],
])("an action is retried while the database is busy, until %s", async (_, timeout, tries) => {
  let count = 0;
  const { isBusy } = errors;
  const action = () => {
    count += 1;
    throw timeout === Infinity && count === 3 ? new Error("full") : new Busy("busy");
  };
  const retried = retryWhileBusy({ timeout, now: () => count, isBusy }, action);
  await expect(retried).rejects.toThrow(timeout === Infinity ? "full" : "busy");
  expect(count).toBe(tries);
});
