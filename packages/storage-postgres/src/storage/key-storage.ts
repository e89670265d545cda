import { NO_USAGE, storageError, type KeyStorage, type KeyWithUsage } from "@petstore/core/storage";
import { isText } from "@petstore/core/internal";
import { Contention } from "@petstore/storage-sql";
import { err, ok } from "neverthrow";
import { createSerialRun, IMPORT_TIMEOUT, type Attempts } from "../commit/calls.js";
import type { Writer } from "../commit/writer.js";
import type { ApiKeys } from "../tables/api-keys.js";
import { randomStamp } from "../tables/schema.js";

export function createPostgresKeyStorage(
  keys: ApiKeys,
  writer: Writer,
  run: Attempts["run"],
): KeyStorage {
  const inTurn = createSerialRun(run);
  const insert = (name: string, added: readonly KeyWithUsage[], timeout?: number) => {
    const argument = { added, version: randomStamp() };
    const write = async () => Number((await writer.write(keys.insert, argument, timeout))[0]);
    return inTurn(name, write, timeout);
  };
  return {
    insert: async (key) => {
      const added = await insert("Adding an API key", [{ key, usage: NO_USAGE }]);
      return added.andThen((count) =>
        count === 1 ? ok() : err(storageError("Adding an API key failed: its id is taken.")),
      );
    },
    import: (moved) => insert("Adding API keys", moved, IMPORT_TIMEOUT),
    find: (id) => run("Finding an API key", async () => (await keys.find(id))?.stored),
    // No id contains U+0000, so what sorts after "a\0b" also sorts after "a".
    list: (query) =>
      run("Listing API keys", () => keys.list({ ...query, after: query.after?.split("\0")[0] })),
    update: (id, decide) =>
      inTurn("Changing an API key", async () => {
        const found = await keys.find(id);
        // An unchanged key is written, too: its last change may not have reached a synchronous standby.
        const { next = found?.stored.key, result } = decide(found?.stored.key);
        if (!found || !next) return result;
        const change = { key: { ...next, id }, expected: found.version, version: randomStamp() };
        const changed = await writer.write(keys.update, change);
        if (changed.length === 0) throw new Contention();
        return result;
      }),
    remove: (ids) =>
      inTurn("Removing API keys", async () => {
        const removed = await writer.write(keys.remove, { ids: ids.filter(isText) });
        if (removed.length === 0) throw new Contention();
        return removed.length - 1;
      }),
  };
}
