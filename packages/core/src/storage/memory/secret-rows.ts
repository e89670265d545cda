import type { ApiKeySecret } from "../../keys/api-key.js";
import { createColumn, createNumberRows, fromTime, toTime } from "./columns.js";
import { createDigestIndex } from "./digest-index.js";

/** The secrets of keys, a row each; those of one key are linked from the newest to the oldest. */
export interface SecretRows {
  /** Throws when another key has one of these digests, or two of them are the same. */
  mustBeFree(keyRow: number, secrets: readonly ApiKeySecret[]): void;
  /** Adds the secrets of a key, newest first and at least one, and answers with the newest's row. */
  add(keyRow: number, secrets: readonly ApiKeySecret[]): number;
  /** The secrets from this row on. */
  read(newest: number): readonly ApiKeySecret[];
  /** Removes the secrets from this row on. */
  remove(newest: number): void;
  /** The row of the secret with this digest, or `undefined`. */
  find(digest: string): number | undefined;
  /** The row of the key that a secret belongs to. */
  keyRow(row: number): number;
  /** From when a secret is refused, as in `ApiKeySecret`. */
  expiresAt(row: number): number | undefined;
}

const KEY_ROW = 0;
const EXPIRES_AT = 1;
const OLDER = 2;
const WIDTH = 3;
/** What stands in `OLDER` when there is none. */
const NONE = -1;

/** No secrets. */
export function createSecretRows(): SecretRows {
  const digests = createColumn("");
  const hints = createColumn("");
  const numbers = createNumberRows(WIDTH);
  const index = createDigestIndex((row) => digests.get(row));
  const free: number[] = [];
  let length = 0;

  const add = (ofKey: number, secret: ApiKeySecret, older: number): number => {
    const row = free.pop() ?? length++;
    digests.set(row, secret.digest);
    hints.set(row, secret.hint);
    const chunk = numbers.writable(row);
    const at = numbers.offset(row);
    chunk[at + KEY_ROW] = ofKey;
    chunk[at + EXPIRES_AT] = fromTime(secret.expiresAt);
    chunk[at + OLDER] = older;
    index.add(row, secret.digest);
    return row;
  };
  const rowsFrom = (newest: number): readonly number[] => {
    const rows: number[] = [];
    for (let row = newest; row !== NONE; row = numbers.get(row, OLDER)) rows.push(row);
    return rows;
  };
  const expiresAt = (row: number): number | undefined => toTime(numbers.get(row, EXPIRES_AT));
  const keyRow = (row: number): number => numbers.get(row, KEY_ROW);

  return {
    mustBeFree: (ofKey, secrets) => {
      const taken = secrets.some(({ digest }, at) => {
        const row = index.find(digest);
        const isOthers = row !== undefined && keyRow(row) !== ofKey;
        return isOthers || secrets.findIndex((each) => each.digest === digest) !== at;
      });
      if (taken) throw new Error("There is a secret with this digest.");
    },
    add: (ofKey, secrets) =>
      secrets.reduceRight((older, secret) => add(ofKey, secret, older), NONE),
    read: (newest) =>
      rowsFrom(newest).map((row) => ({
        digest: digests.get(row),
        hint: hints.get(row),
        expiresAt: expiresAt(row),
      })),
    remove: (newest) => {
      for (const row of rowsFrom(newest)) {
        index.remove(digests.get(row));
        digests.set(row, "");
        hints.set(row, "");
        free.push(row);
      }
    },
    find: (digest) => index.find(digest),
    keyRow,
    expiresAt,
  };
}
