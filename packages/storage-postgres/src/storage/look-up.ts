import { createGroupCommit, type GroupCommit } from "@petstore/storage-sql";
import type { CallSettings } from "../commit/calls.js";

/**
 * Creates reads of which those that arrive together share a statement.
 * @param name names a read in a failure message, as in "Finding a pet".
 * @param read resolves to the function that returns what was read for each of these subjects.
 */
export function createLookUp<Subject, Value>(
  name: string,
  settings: CallSettings,
  read: (subjects: readonly Subject[]) => Promise<(subject: Subject) => Value>,
) {
  const reads: GroupCommit<(subject: Subject) => Value, Subject> = createGroupCommit({
    ...settings,
    kind: { storage: "postgres", group: "reads" },
    commit: async (calls) => {
      const found = await read(calls.map(({ subject }) => subject));
      return calls.map(({ work }) => work(found));
    },
  });
  return {
    find: (subject: Subject) => reads.add(name, (found) => found(subject), subject),
    close: () => reads.close(),
  };
}
