import type { StoredApiKey } from "../keys/api-key.js";
import { NO_USAGE, type Usage } from "../limits/usage.js";
import type { KeyQuery, KeyStorage, KeyWithUsage } from "./key-storage.js";
import type { Run } from "./memory-run.js";
import type { UsageStorage } from "./usage-storage.js";

/** The keys and their usage in memory. */
export function createMemoryKeys(run: Run): {
  readonly keys: KeyStorage;
  readonly usage: UsageStorage;
} {
  const entries = new Map<string, KeyWithUsage>();
  const idByDigest = new Map<string, string>();

  const put = (key: StoredApiKey, usage: Usage): void => {
    for (const { digest } of entries.get(key.id)?.key.secrets ?? []) idByDigest.delete(digest);
    for (const { digest } of key.secrets) idByDigest.set(digest, key.id);
    entries.set(key.id, { key, usage });
  };

  return {
    keys: {
      insert: (key) =>
        run(() => {
          put(key, NO_USAGE);
        }),
      find: (id) => run(() => entries.get(id)),
      list: (query) => run(() => select(entries.values(), query)),
      update: (id, decide) =>
        run(() => {
          const entry = entries.get(id);
          const { next, answer } = decide(entry?.key);
          if (entry && next && next !== entry.key) put(next, entry.usage);
          return answer;
        }),
    },
    usage: {
      charge: (digest, decide) =>
        run(() => {
          const entry = entries.get(idByDigest.get(digest) ?? "");
          if (entry === undefined) return decide(undefined).answer;
          const { key, usage } = entry;
          const secretExpiresAt = key.secrets.find((each) => each.digest === digest)?.expiresAt;
          const { next, answer } = decide({ key, secretExpiresAt, usage });
          if (next && next !== usage) entries.set(key.id, { key, usage: next });
          return answer;
        }),
      update: (keyId, decide) =>
        run(() => {
          const entry = entries.get(keyId);
          const { next, answer } = decide(entry?.usage);
          if (entry && next && next !== entry.usage) entries.set(keyId, { ...entry, usage: next });
          return answer;
        }),
    },
  };
}

function select(entries: Iterable<KeyWithUsage>, query: KeyQuery): readonly KeyWithUsage[] {
  const { limit, after, banned } = query;
  return [...entries]
    .filter(
      ({ key, usage }) => (after === undefined || key.id > after) && (!banned || usage.bans > 0),
    )
    .sort((one, other) => (one.key.id < other.key.id ? -1 : 1))
    .slice(0, limit);
}
