import type { StoredApiKey } from "../../keys/api-key.js";
import type { RateLimits } from "../../limits/plan.js";
import type { KeyHolder } from "../usage-storage.js";
import { createColumn, createNumberRows, fromTime, toTime } from "./columns.js";
import { createIdOrder } from "./id-order.js";
import { createSecretRows } from "./secret-rows.js";

/** Keys, a row each, with their secrets. */
export interface KeyRows {
  /** Adds a key. Throws when its id or a digest is known; nothing is changed then. */
  add(key: StoredApiKey): void;
  /** Replaces everything of a key but its id. Throws when another has a digest; nothing is changed then. */
  write(row: number, key: StoredApiKey): void;
  read(row: number): StoredApiKey;
  /** What of a key every request needs. */
  readHolder(row: number): KeyHolder["key"];
  /** The row of the key with this id, or `undefined`. */
  find(id: string): number | undefined;
  /** The rows of the keys whose id sorts after this one, in order; of all when it is left out. */
  after(id: string | undefined): Iterable<number>;
  /** The key that has a secret with this digest, and from when that is refused; or `undefined`. */
  holder(
    digest: string,
  ): { readonly row: number; readonly expiresAt: number | undefined } | undefined;
}

const CREATED_AT = 0;
const EXPIRES_AT = 1;
const REVOKED_AT = 2;
const NEWEST_SECRET = 3;
const WIDTH = 4;

const NO_LIMITS: RateLimits = Object.freeze({ perMinute: 0, perDay: 0 });

/** No keys. */
export function createKeyRows(): KeyRows {
  const fields = createKeyFields();
  const secrets = createSecretRows();
  const order = createIdOrder((row) => fields.id(row));

  return {
    add: (key) => {
      const row = order.length;
      if (order.find(key.id) !== undefined) throw new Error("There is a key with this id.");
      secrets.mustBeFree(row, key.secrets);
      fields.name(row, key.id);
      order.add(row);
      fields.write(row, key, secrets.add(row, key.secrets));
    },
    write: (row, key) => {
      secrets.mustBeFree(row, key.secrets);
      secrets.remove(fields.newestSecret(row));
      fields.write(row, key, secrets.add(row, key.secrets));
    },
    read: (row) => ({ ...fields.read(row), secrets: secrets.read(fields.newestSecret(row)) }),
    readHolder: fields.readHolder,
    find: (id) => order.find(id),
    after: (id) => order.after(id),
    holder: (digest) => {
      const secret = secrets.find(digest);
      return secret === undefined
        ? undefined
        : { row: secrets.keyRow(secret), expiresAt: secrets.expiresAt(secret) };
    },
  };
}

/** What is kept of a key, by its row. */
interface KeyFields {
  readonly name: (row: number, id: string) => void;
  /** Everything but the id. */
  readonly write: (row: number, key: StoredApiKey, newestSecret: number) => void;
  readonly read: (row: number) => Omit<StoredApiKey, "secrets">;
  readonly readHolder: (row: number) => KeyHolder["key"];
  readonly id: (row: number) => string;
  readonly newestSecret: (row: number) => number;
}

function createKeyFields(): KeyFields {
  const ids = createColumn("");
  const plans = createColumn("");
  const limits = createColumn(NO_LIMITS);
  const labels = createColumn<string | undefined>(undefined);
  const numbers = createNumberRows(WIDTH);
  const readHolder = (row: number): KeyHolder["key"] => ({
    id: ids.get(row),
    plan: plans.get(row),
    limits: limits.get(row),
    expiresAt: toTime(numbers.get(row, EXPIRES_AT)),
    revokedAt: toTime(numbers.get(row, REVOKED_AT)),
  });

  return {
    name: (row, id) => ids.set(row, id),
    write: (row, key, newestSecret) => {
      plans.set(row, key.plan);
      // Shared, not copied: all keys on a plan have the same.
      limits.set(row, key.limits);
      labels.set(row, key.label);
      const chunk = numbers.writable(row);
      const at = numbers.offset(row);
      chunk[at + CREATED_AT] = key.createdAt;
      chunk[at + EXPIRES_AT] = fromTime(key.expiresAt);
      chunk[at + REVOKED_AT] = fromTime(key.revokedAt);
      chunk[at + NEWEST_SECRET] = newestSecret;
    },
    read: (row) => ({
      ...readHolder(row),
      label: labels.get(row),
      createdAt: numbers.get(row, CREATED_AT),
    }),
    readHolder,
    id: (row) => ids.get(row),
    newestSecret: (row) => numbers.get(row, NEWEST_SECRET),
  };
}
