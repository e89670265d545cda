import type { StorageError } from "@petstore/core/storage";
import { createGroupCommit, type GroupCommit } from "@petstore/storage-sql";
import type { Result } from "neverthrow";
import type { AttemptSettings } from "../commit/calls.js";

/** Finds the values of keys. Calls that arrive together share a statement. */
export interface LookUp<Key, Value> {
  find(name: string, key: Key): Promise<Result<Value | undefined, StorageError>>;
  close(): Promise<void>;
}

/** How a look-up reads, and how its calls are grouped. */
export interface LookUpOptions<Key, Value> {
  /** Reads the values of these keys, which differ. Resolves to pairs of key and value. */
  readonly read: (keys: readonly Key[]) => Promise<readonly (readonly [Key, Value])[]>;
  readonly settings: AttemptSettings;
}

/** Creates a look-up. */
export function createLookUp<Key extends string | bigint, Value>({
  read,
  settings,
}: LookUpOptions<Key, Value>): LookUp<Key, Value> {
  const reads: GroupCommit<ReadonlyMap<Key, Value>, Key> = createGroupCommit({
    ...settings,
    kind: { storage: "postgres", group: "reads" },
    commit: async (calls) => {
      const found = new Map(await read([...new Set(calls.map(({ subject }) => subject))]));
      return calls.map(({ work }) => work(found));
    },
  });
  return {
    find: (name, key) => reads.add(name, (found) => found.get(key), key),
    close: () => reads.close(),
  };
}
