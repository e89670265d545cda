// The grouping of commits is shared by databases in this process and across a network.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { storageFailure } from "@petstore/core";
import type { Call } from "../src/commit/commit.js";
import { createGroupCommit, type GroupCommitOptions } from "../src/commit/group-commit.js";
import { expect, it, onTestFinished } from "vitest";

class Busy extends Error {}

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
    errors: {
      isBusy: (error) => error instanceof Busy,
      isCausedByCall: (error) => error instanceof RangeError,
      toFailure: (name, error) => storageFailure(`${name} failed.`, error),
    },
    kind: { storage: "sqlite", group: "writes" },
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
  const { group, endNext, advance } = createDatabase();
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
  const kind = { storage: "sqlite", group: "writes" };
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
  }
});

it("calls that follow those of a group that gathers are committed in the turn in which it commits", async () => {
  const log: string[] = [];
  const createGroup = (name: string, options: Partial<GroupCommitOptions<undefined, void>>) =>
    createGroupCommit<undefined>({
      commit: (calls) => {
        log.push(`${name} ${calls.length}`);
        return calls.map(({ work }) => work(undefined));
      },
      errors: {
        isBusy: () => false,
        isCausedByCall: () => false,
        toFailure: (name, error) => storageFailure(`${name} failed.`, error),
      },
      kind: { storage: "sqlite", group: "writes" },
      timeout: 0,
      now: () => 0,
      ...options,
    });
  const following = createGroup("following", {});
  const first = createGroup("first", { gatherTurns: 3, followedBy: [following] });
  const call = async () => {
    await first.add("call", () => 1);
    await following.add("call that follows", () => 2);
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
