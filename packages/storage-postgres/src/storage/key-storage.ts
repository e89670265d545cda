import type { KeyStorage } from "@petstore/core";
import { Contention } from "@petstore/storage-sql";
import { ok } from "neverthrow";
import type { RunCall } from "../commit/calls.js";
import type { Writer } from "../commit/writer.js";
import type { ApiKeys } from "../tables/api-keys.js";
import { isText, randomStamp } from "../tables/schema.js";

/** Creates the storage of API keys. Changes of one key run one after another. */
export function createKeyStorage(keys: ApiKeys, writer: Writer, run: RunCall): KeyStorage {
  const inTurn = createTurns();
  return {
    insert: (key) => {
      const version = randomStamp();
      return run("Adding an API key", () =>
        inTurn(async () => {
          await writer.write(keys.insert, { key, version });
        }),
      );
    },
    find: (id) =>
      isText(id)
        ? run("Finding an API key", async () => {
            const found = await keys.find(id);
            return found && { key: found.key, usage: found.usage };
          })
        : Promise.resolve(ok(undefined)),
    // No id contains U+0000, so what sorts after "a\0b" also sorts after "a".
    list: (query) =>
      run("Listing API keys", () => keys.list({ ...query, after: query.after?.split("\0")[0] })),
    update: (id, decide) =>
      run("Changing an API key", () =>
        inTurn(async () => {
          const found = isText(id) ? await keys.find(id) : undefined;
          const { next, result } = decide(found?.key);
          if (!found || !next || next === found.key) return result;
          const change = { key: { ...next, id }, expected: found.version, version: randomStamp() };
          const changed = await writer.write(keys.update, change);
          if (changed.length === 0) throw new Contention();
          return result;
        }),
      ),
    remove: (ids) =>
      run("Removing API keys", () =>
        inTurn(async () => {
          const removed = await writer.write(keys.remove, { ids: ids.filter(isText) });
          if (removed.length === 0) throw new Contention();
          return removed.length - 1;
        }),
      ),
  };
}

/** Runs actions one after the other, so that this process's own changes of a key never collide. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(action: () => Promise<T>): Promise<T> => {
    const result = last.then(action);
    last = result.catch(() => undefined);
    return result;
  };
}
