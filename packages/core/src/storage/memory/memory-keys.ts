import type { KeyQuery, KeyStorage, KeyWithUsage } from "../key-storage.js";
import type { UsageStorage } from "../usage-storage.js";
import { createKeyRows, type KeyRows } from "./key-rows.js";
import type { Run } from "./memory-run.js";
import { createUsageRows, type UsageRows } from "./usage-rows.js";

/**
 * The keys and their usage in memory: in columns, as in a database, since objects would take nearly
 * twice as much.
 */
export function createMemoryKeys(run: Run): {
  readonly keys: KeyStorage;
  readonly usage: UsageStorage;
} {
  const rows: Rows = { keys: createKeyRows(), usages: createUsageRows() };
  const { keys } = rows;
  return {
    keys: {
      insert: (key) =>
        run(() => {
          keys.add(key);
        }),
      find: (id) =>
        run(() => {
          const row = keys.find(id);
          return row === undefined ? undefined : keyWithUsage(rows, row);
        }),
      list: (query) => run(() => select(rows, query)),
      update: (id, decide) =>
        run(() => {
          const row = keys.find(id);
          const shown = row === undefined ? undefined : keys.read(row);
          const { next, result } = decide(shown);
          if (row !== undefined && next && next !== shown) keys.write(row, next);
          return result;
        }),
    },
    usage: createMemoryUsage(run, rows),
  };
}

/** Keys, and what each of them has used in the row of the same number. */
interface Rows {
  readonly keys: KeyRows;
  readonly usages: UsageRows;
}

function createMemoryUsage(run: Run, { keys, usages }: Rows): UsageStorage {
  return {
    charge: (digest, decide) =>
      run(() => {
        const holder = keys.holder(digest);
        if (holder === undefined) return decide(undefined).result;
        const { row, expiresAt } = holder;
        const usage = usages.read(row);
        const { next, result } = decide({
          key: keys.readHolder(row),
          secretExpiresAt: expiresAt,
          usage,
        });
        if (next && next !== usage) usages.write(row, next);
        return result;
      }),
    update: (keyId, decide) =>
      run(() => {
        const row = keys.find(keyId);
        const usage = row === undefined ? undefined : usages.read(row);
        const { next, result } = decide(usage);
        if (row !== undefined && next && next !== usage) usages.write(row, next);
        return result;
      }),
  };
}

function keyWithUsage({ keys, usages }: Rows, row: number): KeyWithUsage {
  return { key: keys.read(row), usage: usages.read(row) };
}

function select(rows: Rows, { limit, after, banned }: KeyQuery): readonly KeyWithUsage[] {
  const selected: KeyWithUsage[] = [];
  for (const row of rows.keys.after(after)) {
    if (selected.length === limit) break;
    if (!banned || rows.usages.read(row).bans > 0) selected.push(keyWithUsage(rows, row));
  }
  return selected;
}
