import { storageError } from "@petstore/core/storage";
import { createGroupCommit, type GroupCommitOptions } from "../src/commit/group-commit.js";
import { AGAIN, CallFailure, Contention, type Call, type Commit } from "../src/commit/commit.js";
import { NoIdLeft } from "../src/pets.js";
import { backoffBefore, monotonicNow, retryWhileBusy } from "../src/commit/retry.js";
import { createTurns } from "../src/commit/turns.js";
import { expect, it, vi } from "vitest";
import { fakeTimers } from "../../../scripts/fake-timers.js";
import { collect } from "../../core/test/support/open-store.js";
import { turns } from "./support/samples.js";

class Busy extends Error {}

const isBusy = (error: unknown) => error instanceof Busy;
const kind = { storage: "sqlite", group: "writes" } as const;
const runAll: Commit<undefined, string> = (calls) => calls.map(({ work }) => work(undefined));

/** A group of calls whose result is their name. It commits like this. */
function createGroup(
  commit: Commit<undefined, string>,
  options: Partial<GroupCommitOptions<undefined, string>> = {},
) {
  const batches: string[][] = [];
  const group = createGroupCommit<undefined, string>({
    commit: (calls) => {
      batches.push(calls.map(({ subject }) => subject));
      return commit(calls);
    },
    errors: {
      isBusy,
      isCausedByCall: (error) => error instanceof RangeError,
      toFailure: (name, error) => storageError(`${name} failed.`, error),
    },
    ...{ kind, timeout: 0, now: () => 0 },
    ...options,
  });
  return { group, batches, add: (name: string) => group.add(name, () => name, name) };
}

type Group = ReturnType<typeof createGroup>;

/** A group whose commits end when the test says so. */
function createSlowGroup(options: Partial<GroupCommitOptions<undefined, string>> = {}) {
  let time = 0;
  const ends: ((error?: Error) => void)[] = [];
  const commit = async <T>(calls: readonly Call<undefined, string, T>[]) => {
    const results = runAll(calls);
    await new Promise<void>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()));
    });
    return results;
  };
  return {
    ...createGroup(commit, { now: () => time, ...options }),
    endNext: async (error?: Error): Promise<void> => {
      while (ends.length === 0) await turns(1);
      ends.shift()?.(error);
    },
    advance: (milliseconds: number) => void (time += milliseconds),
  };
}

it("calls that arrive during a commit share the next, and each publishes how long it waited and took, and whether it failed", async () => {
  const signals = collect("petstore:transaction");
  const { add, batches, endNext, advance } = createSlowGroup({ timeout: 1_000 });
  const calls = [add("first")];
  await turns(1);
  calls.push(add("second"));
  advance(3);
  calls.push(add("third"));
  await turns(3);
  expect(batches).toEqual([["first"]]);
  advance(4);
  await endNext();
  expect((await calls[0])?._unsafeUnwrap()).toBe("first");
  await turns(2);
  calls.push(add("fourth"));
  advance(5);
  await endNext();
  const [, ...shared] = await Promise.all(calls.slice(0, 3));
  expect(shared.map((result) => result._unsafeUnwrap())).toEqual(["second", "third"]);
  await endNext(new Error("The disk is full."));
  await Promise.all(calls);
  expect(batches).toEqual([["first"], ["second", "third"], ["fourth"]]);
  expect(signals).toEqual([
    { ...kind, calls: 1, waitMilliseconds: 0, commitMilliseconds: 7, failed: false },
    { ...kind, calls: 2, waitMilliseconds: 7, commitMilliseconds: 5, failed: false },
    { ...kind, calls: 1, waitMilliseconds: 5, commitMilliseconds: 0, failed: true },
  ]);
});

it("a group that gathers waits for calls of later turns, but only while calls share its commits", async () => {
  const { add, batches, endNext } = createSlowGroup({ turns: createTurns(3) });
  // After how many turns a commit begins, and the names of its calls.
  for (const [waited, ...names] of ["1a", "1bc", "4d", "1e", "1fg"]) {
    const calls = names.map(add);
    await turns(Number(waited));
    expect(batches.at(-1)).toEqual(names);
    await endNext();
    await Promise.all(calls);
    await turns(1);
  }
  const gathered = ["c", "d", "e"].map(async (name, later) => {
    await turns(later);
    return add(name);
  });
  await endNext();
  await Promise.all(gathered);
  expect(batches.at(-1)).toEqual(["c", "d", "e"]);
});

it("calls that follow those of an earlier group are committed in the turn in which it commits", async () => {
  const log: string[] = [];
  const shared = { turns: createTurns(3) };
  const [first, following] = ["first", "following"].map((name) =>
    createGroup((calls) => (log.push(`${name} ${calls.length}`), runAll(calls)), shared),
  ) as [Group, Group];
  const call = async (isFollowed: boolean) => {
    await first.add("call");
    for (const name of ["reaction", "of a reaction"]) await Promise.resolve(name);
    if (isFollowed) await following.add("call that follows");
  };
  for (const gathered of [0, 3]) {
    log.length = 0;
    const calls = [call(true), call(false)];
    await turns(gathered);
    expect(log).toEqual([]);
    await turns(1);
    expect(log).toEqual(["first 2", "following 1"]);
    await Promise.all(calls);
  }
  await following.add("call that follows none");
  expect(log.at(-1)).toBe("following 1");
});

it("when one call makes a commit fail, each of its calls is committed separately, and later ones together", async () => {
  const { add, batches, endNext } = createSlowGroup();
  const calls = ["a", "b", "c"].map(add);
  for (const error of [new RangeError(), undefined, new RangeError(), undefined])
    await endNext(error);
  expect((await Promise.all(calls)).map((result) => result.isOk())).toEqual([true, false, true]);
  const later = ["d", "e"].map(add);
  await endNext();
  await Promise.all(later);
  expect(batches.map(String)).toEqual(["a,b,c", "a", "b", "c", "d,e"]);
});

it("a call that has waited for its timeout is not begun", async () => {
  let time = 0;
  const options = { largestBatch: 1, callTimeout: 9, now: () => time };
  const { add, batches } = createGroup((calls) => ((time += 9), runAll(calls)), options);
  const results = await Promise.all(["first", "second"].map(add));
  expect([results.map((result) => result.isOk()), batches]).toEqual([[true, false], [["first"]]]);
});

it("each call waits for a busy database until its own timeout", async () => {
  const { add, endNext, advance } = createSlowGroup({ timeout: 20, callTimeout: 10 });
  const early = add("early");
  advance(6);
  const late = add("late");
  await endNext(new Busy());
  advance(4);
  await endNext(new Busy());
  expect((await early)._unsafeUnwrapErr().cause).toBeInstanceOf(Busy);
  await endNext();
  expect((await late)._unsafeUnwrap()).toBe("late");
});

it("close waits for earlier calls, refuses later ones, and ends at once without calls", async () => {
  await createSlowGroup().group.close();
  const { group, add, endNext } = createSlowGroup();
  const before = add("before");
  const settle = vi.fn();
  const closes = [group.close().then(settle), group.close().then(settle)];
  expect((await add("after")).isErr()).toBe(true);
  await turns(2);
  expect(settle).not.toHaveBeenCalled();
  await endNext();
  await Promise.all(closes);
  expect((await before).isOk()).toBe(true);
});

it("a call for which nothing was stored runs again, before later calls; one that failed does not", async () => {
  const later: ReturnType<typeof add>[] = [];
  const { add, batches } = createGroup((calls) => {
    if (batches.length === 1) later.push(add("later"));
    return calls.map(({ work, subject }) => {
      if (subject === "slow" && batches.length === 1) return AGAIN;
      return subject === "bad" ? new CallFailure(new NoIdLeft()) : work(undefined);
    });
  });
  const slow = add("slow");
  const [bad, quick] = await Promise.all([add("bad"), add("quick")]);
  expect(bad._unsafeUnwrapErr().cause).toBeInstanceOf(NoIdLeft);
  const results = [quick, ...(await Promise.all([slow, ...later]))];
  expect(results.map((result) => result._unsafeUnwrap())).toEqual(["quick", "slow", "later"]);
  expect(batches.map(String)).toEqual(["slow,bad,quick", "slow,later"]);
});

it("calls for which nothing is ever stored fail at their own timeout, and the next ones do not wait", async () => {
  let time = 0;
  let isFast = false;
  const commit: typeof runAll = (calls) => (isFast ? runAll(calls) : calls.map(() => AGAIN));
  const { add } = createGroup(commit, { timeout: 10, now: () => time++ });
  expect((await add("call"))._unsafeUnwrapErr().cause).toBeInstanceOf(Contention);
  expect(time).toBeGreaterThan(10);
  expect(time).toBeLessThan(20);
  isFast = true;
  expect((await add("call")).isOk()).toBe(true);
});

it.each(["writes", "reads"] as const)("one of %s whose commit never ends fails", async (group) => {
  fakeTimers("setInterval", "clearInterval");
  const options = { timeout: 9, callTimeout: 1_000, kind: { ...kind, group } };
  const { add, batches, endNext, advance } = createSlowGroup(options);
  let settled: unknown;
  const call = add("call").then((result) => (settled = result));
  await turns(1);
  const waiting = add("waiting");
  for (let round = 0; round < 2; round += 1) {
    advance(250);
    vi.advanceTimersByTime(250);
    await turns(1);
    expect(settled).toBeUndefined();
  }
  advance(250);
  vi.advanceTimersByTime(250);
  await call;
  expect(settled).toMatchObject({ error: { cause: { mayBeStored: group === "writes" } } });
  expect((await waiting)._unsafeUnwrapErr()).toMatchObject({ cause: { mayBeStored: false } });
  void createSlowGroup().add("call without a timeout");
  await turns(1);
  expect(vi.getTimerCount()).toBe(1);
  const next = add("next");
  await endNext();
  await endNext();
  expect([(await next)._unsafeUnwrap(), vi.getTimerCount()]).toEqual(["next", 0]);
  expect(batches.map(String)).toEqual(["call", "next"]);
});

it("a retry waits for 20 turns of the event loop, then for 1 ms and up to 20 ms", () => {
  const waits = [0, 1, 20, 21, 22, 23, 24, 25, 26, 1_000].map(backoffBefore);
  expect(waits).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 20, 20]);
});

it("retries of a commit and of an action wait longer each time, until one succeeds", async () => {
  let busy = 0;
  const tryNext = () => {
    if (busy-- > 0) throw new Busy();
  };
  const { add } = createGroup((calls) => (tryNext(), runAll(calls)), { timeout: 1 });
  const retry = { timeout: 1, now: () => 0, isBusy };
  for (const retried of [() => add("call"), () => retryWhileBusy(retry, tryNext)]) {
    // The last waits are for 1, 2, 4, 8, 16 and three times 20 ms.
    busy = 28;
    const start = monotonicNow();
    await retried();
    expect(monotonicNow() - start).toBeGreaterThan(60);
  }
  busy = 1;
  expect(await Promise.race([add("call"), turns(9)])).toBeDefined();
});

it.each([
  ["its timeout", 10, 10],
  ["an error that a retry does not help against", Infinity, 3],
])("an action is retried while the database is busy, until %s", async (_, timeout, tries) => {
  let count = 0;
  const action = () => {
    count += 1;
    throw timeout === Infinity && count === 3 ? new Error("full") : new Busy("busy");
  };
  const retried = retryWhileBusy({ timeout, now: () => count, isBusy }, action);
  await expect(retried).rejects.toThrow(timeout === Infinity ? "full" : "busy");
  expect(count).toBe(tries);
});
