import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Result, ResultAsync } from "neverthrow";
import { createManualClock, createMemoryStorage, createPetStore } from "@petstore/core";
import type { Caller, IssueKeyInput, PetStoreOptions, Signals, TrustedPets } from "@petstore/core";
import { operations as facts, type OperationName } from "@petstore/core/facts";
import { onTestFinished } from "vitest";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const rex = { name: "Rex", categoryId: 7n };
export const LIMIT_FIELDS = "{ perMinute, perDay }";
type Call<Of = Caller | TrustedPets> = (of: Of) => ResultAsync<unknown, object>;

/** A call of each operation. In this order, in a new store, each succeeds. */
export const operations = Object.fromEntries(
  Object.entries(facts).map(([name, { method, path }]): [string, Call] => {
    const input = path.endsWith("}") ? 1n : method === "POST" ? rex : undefined;
    return [name, (pets) => (pets[name as OperationName] as Call<unknown>)(input)];
  }),
);

export const ownLimits = (perMinute: number, perDay: number) => {
  return { plan: "enterprise", limits: { perMinute, perDay } };
};

/** Opens a store on a manual clock and a storage in memory, whose members a test may replace. */
export function openStore(options: PetStoreOptions = {}) {
  const clock = createManualClock();
  const { storage = createMemoryStorage() } = options;
  const store = createPetStore({ clock, ...options, storage });
  const issue = async (input: IssueKeyInput = { plan: "free" }) => {
    const { key, secret } = value(await store.keys.issue(input));
    return { id: key.id, secret, caller: store.as(secret) };
  };
  return { store, clock, storage, issue };
}

/** Sends requests, one after the other, and returns what comes of them: `ok` or the code of an error. */
export async function codes(caller: Caller, requests: number): Promise<string[]> {
  const all: string[] = [];
  while (all.length < requests) {
    const outcome = await caller.admit();
    all.push(outcome.isOk() ? "ok" : outcome.error.code);
  }
  return all;
}

export const admitted = async (caller: Caller, requests = 10): Promise<number> =>
  (await codes(caller, requests)).filter((code) => code === "ok").length;

export const value = <T, E>(result: Result<T, E>): T => result._unsafeUnwrap();
export const error = <T, E>(result: Result<T, E>): E => result._unsafeUnwrapErr();

export function collect<Name extends keyof Signals>(name: Name): readonly Signals[Name][] {
  const signals: Signals[Name][] = [];
  const listener = (signal: unknown) => void signals.push(signal as Signals[Name]);
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return signals;
}
