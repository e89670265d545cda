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
  const entries = new Map<string, Entry>();
  const holders = new Map<string, Entry>();

  const put = (entry: Entry, key: StoredApiKey): void => {
    for (const { digest } of entry.key.secrets) holders.delete(digest);
    for (const { digest } of key.secrets) holders.set(digest, entry);
    entry.key = key;
  };

  return {
    keys: {
      insert: (key) =>
        run(() => {
          const entry = { key, usage: NO_USAGE };
          put(entry, key);
          entries.set(key.id, entry);
        }),
      find: (id) =>
        run(() => {
          const entry = entries.get(id);
          return entry && { ...entry };
        }),
      list: (query) => run(() => select(entries.values(), query)),
      update: (id, decide) =>
        run(() => {
          const entry = entries.get(id);
          const { next, answer } = decide(entry?.key);
          if (entry && next && next !== entry.key) put(entry, { ...next, id });
          return answer;
        }),
    },
    usage: createMemoryUsage(run, entries, holders),
  };
}

/** A key as it is now, and what it has used so far. */
interface Entry {
  key: StoredApiKey;
  usage: Usage;
}

function createMemoryUsage(
  run: Run,
  entries: ReadonlyMap<string, Entry>,
  holders: ReadonlyMap<string, Entry>,
): UsageStorage {
  return {
    charge: (digest, decide) =>
      run(() => {
        const entry = holders.get(digest);
        if (entry === undefined) return decide(undefined).answer;
        const { key, usage } = entry;
        const secretExpiresAt = key.secrets.find((each) => each.digest === digest)?.expiresAt;
        const { next, answer } = decide({ key, secretExpiresAt, usage });
        if (next) entry.usage = next;
        return answer;
      }),
    update: (keyId, decide) =>
      run(() => {
        const entry = entries.get(keyId);
        const { next, answer } = decide(entry?.usage);
        if (entry && next) entry.usage = next;
        return answer;
      }),
  };
}

function select(entries: Iterable<KeyWithUsage>, query: KeyQuery): readonly KeyWithUsage[] {
  const { limit, after, banned } = query;
  return [...entries]
    .filter(
      ({ key, usage }) => (after === undefined || key.id > after) && (!banned || usage.bans > 0),
    )
    .sort((one, other) => (one.key.id < other.key.id ? -1 : 1))
    .slice(0, limit)
    .map((entry) => ({ ...entry }));
}
