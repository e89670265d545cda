import { createGroupCommit, type GroupCommit } from "@petstore/storage-sql";
import type { AttemptSettings } from "../commit/calls.js";

/**
 * Creates a look-up of the values of keys. Calls that arrive together share a statement.
 * @param read resolves to the values of these keys, which differ, as pairs of key and value.
 */
export function createLookUp<Key extends string | bigint, Value>(
  settings: AttemptSettings,
  read: (keys: readonly Key[]) => Promise<readonly (readonly [Key, Value])[]>,
) {
  const reads: GroupCommit<ReadonlyMap<Key, Value>, Key> = createGroupCommit({
    ...settings,
    kind: { storage: "postgres", group: "reads" },
    commit: async (calls) => {
      const found = new Map(await read([...new Set(calls.map(({ subject }) => subject))]));
      return calls.map(({ work }) => work(found));
    },
  });
  return {
    find: (name: string, key: Key) => reads.add(name, (found) => found.get(key), key),
    close: () => reads.close(),
  };
}
