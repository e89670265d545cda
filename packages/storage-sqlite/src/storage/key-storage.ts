import type { KeyStorage } from "@petstore/core/storage";
import type { Connection } from "../database/connection.js";
import type { ApiKeyUsage } from "../tables/api-key-usage.js";
import type { ApiKeys } from "../tables/api-keys.js";
import type { Groups } from "./groups.js";

/** A key and its secrets are read in one snapshot. */
export function createSqliteKeyStorage(
  keys: ApiKeys,
  usages: Pick<ApiKeyUsage, "save">,
  { reads, writes }: Groups,
  { read }: Pick<Connection, "read">,
): KeyStorage {
  return {
    insert: (key) => writes.add("Adding an API key", () => keys.insert(key)),
    import: (moved) =>
      writes.add("Adding API keys", () => {
        const added = moved.filter(({ key }) => keys.find(key.id) === undefined);
        for (const { key, usage } of added) {
          keys.insert(key);
          usages.save(key.id, usage);
        }
        return added.length;
      }),
    find: (id) => reads.add("Finding an API key", () => read(() => keys.find(id))),
    list: (query) => reads.add("Listing API keys", () => read(() => keys.list(query))),
    update: (id, decide) =>
      writes.add("Changing an API key", () => {
        const key = keys.find(id)?.key;
        const { next, result } = decide(key);
        if (key && next && next !== key) keys.update({ ...next, id });
        return result;
      }),
    remove: (ids) =>
      writes.add("Removing API keys", () => ids.filter((id) => keys.remove(id)).length),
  };
}
