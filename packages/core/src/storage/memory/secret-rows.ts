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
  const fields = createSecretFields();
  const index = createDigestIndex((row) => fields.digest(row));
  const free: number[] = [];
  let length = 0;

  const add = (ofKey: number, secret: ApiKeySecret, older: number): number => {
    const row = free.pop() ?? length++;
    fields.write(row, ofKey, secret, older);
    index.add(row, secret.digest);
    return row;
  };
  const rowsFrom = (newest: number): readonly number[] => {
    const rows: number[] = [];
    for (let row = newest; row !== NONE; row = fields.older(row)) rows.push(row);
    return rows;
  };

  return {
    mustBeFree: (ofKey, secrets) => {
      const taken = secrets.some(({ digest }, at) => {
        const row = index.find(digest);
        const isOthers = row !== undefined && fields.keyRow(row) !== ofKey;
        return isOthers || secrets.findIndex((each) => each.digest === digest) !== at;
      });
      if (taken) throw new Error("There is a secret with this digest.");
    },
    add: (ofKey, secrets) =>
      secrets.reduceRight((older, secret) => add(ofKey, secret, older), NONE),
    read: (newest) => rowsFrom(newest).map(fields.read),
    remove: (newest) => {
      for (const row of rowsFrom(newest)) {
        index.remove(fields.digest(row));
        fields.forget(row);
        free.push(row);
      }
    },
    find: (digest) => index.find(digest),
    keyRow: fields.keyRow,
    expiresAt: fields.expiresAt,
  };
}

/** What is kept of a secret, by its row. */
interface SecretFields {
  readonly write: (row: number, ofKey: number, secret: ApiKeySecret, older: number) => void;
  readonly read: (row: number) => ApiKeySecret;
  /** Lets go of the texts. */
  readonly forget: (row: number) => void;
  readonly digest: (row: number) => string;
  readonly keyRow: (row: number) => number;
  readonly expiresAt: (row: number) => number | undefined;
  /** The row of the next older secret of the same key, or `NONE`. */
  readonly older: (row: number) => number;
}

function createSecretFields(): SecretFields {
  const digests = createColumn("");
  const hints = createColumn("");
  const numbers = createNumberRows(WIDTH);
  const expiresAt = (row: number): number | undefined => toTime(numbers.get(row, EXPIRES_AT));

  return {
    write: (row, ofKey, secret, older) => {
      digests.set(row, secret.digest);
      hints.set(row, secret.hint);
      const chunk = numbers.writable(row);
      const at = numbers.offset(row);
      chunk[at + KEY_ROW] = ofKey;
      chunk[at + EXPIRES_AT] = fromTime(secret.expiresAt);
      chunk[at + OLDER] = older;
    },
    read: (row) => ({ digest: digests.get(row), hint: hints.get(row), expiresAt: expiresAt(row) }),
    forget: (row) => {
      digests.set(row, "");
      hints.set(row, "");
    },
    digest: (row) => digests.get(row),
    keyRow: (row) => numbers.get(row, KEY_ROW),
    expiresAt,
    older: (row) => numbers.get(row, OLDER),
  };
}
