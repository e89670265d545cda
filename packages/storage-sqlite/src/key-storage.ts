import type { KeyQuery, KeyStorage, KeyWithUsage, StoredApiKey } from "@petstore/core";
import { ok } from "neverthrow";
import type { Batch } from "./committer.js";
import type { Connection } from "./connection.js";
import { ask } from "./decision.js";
import type { Read } from "./reader.js";
import { prepareApiKeySecrets } from "./tables/api-key-secrets.js";
import { prepareApiKeys, type BareKeyWithUsage } from "./tables/api-keys.js";
import type { WriteQueue } from "./write-queue.js";

export function createKeyStorage(
  durable: Connection,
  queue: WriteQueue<Batch>,
  reading: Connection,
  read: Read,
): KeyStorage {
  // When first needed: most processes serve keys and manage none.
  const stored = once(() => prepareKeys(durable));
  const seen = once(() => prepareKeys(reading));
  return {
    insert: (key) =>
      queue.add("Adding an API key", () => {
        stored().insert(key);
        return ok();
      }),
    find: (id) => read("Finding an API key", () => reading.read(() => seen().find(id))),
    list: (query) => read("Listing API keys", () => reading.read(() => seen().list(query))),
    update: (id, decide) =>
      queue.add("Changing an API key", () => {
        const key = stored().find(id)?.key;
        return ask(decide, key).map(({ next, result }) => {
          if (key && next && next !== key) stored().update({ ...next, id });
          return result;
        });
      }),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** A key spreads over two tables: these are the reads and writes of it whole. */
function prepareKeys(connection: Connection) {
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
    find: (id: string): KeyWithUsage | undefined => {
      const found = keys.find(id);
      return found && withSecrets(found);
    },
    list: ({ limit, after = "", banned }: KeyQuery): readonly KeyWithUsage[] =>
      (banned ? keys.listBanned(limit, after) : keys.list(limit, after)).map(withSecrets),
  };
}
