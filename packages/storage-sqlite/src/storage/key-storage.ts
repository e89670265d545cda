import type { KeyStorage } from "@petstore/core/storage";
import type { Connection } from "../database/connection.js";
import type { ApiKeyUsage, RememberedUsage } from "../tables/api-key-usage.js";
import type { ApiKeys } from "../tables/api-keys.js";
import type { Groups } from "./groups.js";

/** A key and its secrets are read in one snapshot. */
export function createSqliteKeyStorage(
  keys: ApiKeys,
  usages: Pick<ApiKeyUsage, "save">,
  { forget }: Pick<RememberedUsage, "forget">,
  { reads, writes }: Groups,
  { read }: Pick<Connection, "read">,
): KeyStorage {
  const change = <T>(name: string, work: () => T) =>
    writes.add(name, () => {
      forget();
      return work();
    });
  return {
    insert: (key) => change("Adding an API key", () => keys.insert(key)),
    import: (moved) =>
      change("Adding API keys", () => {
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
      change("Changing an API key", () => {
        const key = keys.find(id)?.key;
        const { next, result } = decide(key);
        if (key && next && next !== key) keys.update({ ...next, id });
        return result;
      }),
    remove: (ids) => change("Removing API keys", () => ids.filter((id) => keys.remove(id)).length),
  };
}
