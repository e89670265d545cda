import type { KeyQuery, KeyStorage, KeyWithUsage, StoredApiKey } from "@petstore/core";
import type { BareKeyWithUsage, GroupCommit } from "@petstore/storage-sql";
import type { Connection } from "../database/connection.js";
import { prepareApiKeySecrets } from "../tables/api-key-secrets.js";
import type { ApiKeyUsage } from "../tables/api-key-usage.js";
import { prepareApiKeys } from "../tables/api-keys.js";

/** Creates the storage of API keys. */
export function createKeyStorage(
  connection: Connection,
  usage: ApiKeyUsage,
  reading: GroupCommit<unknown>,
  writing: GroupCommit<unknown>,
): KeyStorage {
  const keys = prepareKeys(connection, usage);
  return {
    insert: (key) => writing.add("Adding an API key", () => keys.insert(key)),
    find: (id) =>
      reading.add("Finding an API key", () => connection.readSnapshot(() => keys.find(id))),
    list: (query) =>
      reading.add("Listing API keys", () => connection.readSnapshot(() => keys.list(query))),
    update: (id, decide) =>
      writing.add("Changing an API key", () => {
        const key = keys.find(id)?.key;
        const { next, result } = decide(key);
        if (key && next && next !== key) keys.update({ ...next, id });
        return result;
      }),
    remove: (ids) => writing.add("Removing API keys", () => ids.filter(keys.remove).length),
  };
}

/** Prepares keys together with their secrets and usage, which have tables of their own. */
function prepareKeys(connection: Connection, usages: ApiKeyUsage) {
  const keys = prepareApiKeys(connection);
  const secrets = prepareApiKeySecrets(connection);

  const withSecrets = ({ key, usage }: BareKeyWithUsage): KeyWithUsage => ({
    key: { ...key, secrets: secrets.list(key.id) },
    usage,
  });
  return {
    insert: (key: StoredApiKey): void => {
      keys.insert(key);
      secrets.replace(key.id, key.secrets);
    },
    update: (key: StoredApiKey): void => {
      keys.update(key);
      secrets.replace(key.id, key.secrets);
    },
    /** Returns whether there was a key with this id. Removes each row: a host can switch cascades off. */
    remove: (id: string): boolean => {
      if (!keys.find(id)) return false;
      secrets.replace(id, []);
      usages.remove(id);
      keys.remove(id);
      return true;
    },
    find: (id: string): KeyWithUsage | undefined => {
      const found = keys.find(id);
      return found && withSecrets(found);
    },
    list: ({ limit, after = "", banned }: KeyQuery): readonly KeyWithUsage[] =>
      (banned ? keys.listBanned(limit, after) : keys.list(limit, after)).map(withSecrets),
  };
}
