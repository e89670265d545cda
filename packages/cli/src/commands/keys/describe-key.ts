import type { ApiKey, IssuedKey, Quota } from "@petstore/core";
import type { Renderer } from "./reply.js";

/** One key. */
export const oneKey: Renderer<ApiKey> = {
  json: keyToJson,
  text: (key, now) => keysToTable([key], now),
};

/** Any number of keys: an array, or a table. */
export const manyKeys: Renderer<readonly ApiKey[]> = {
  json: (keys) => keys.map(keyToJson),
  text: keysToTable,
};

/** A key with its secret. */
export const issuedKey: Renderer<IssuedKey> = {
  json: ({ secret, key }) => ({ ...keyToJson(key), secret }),
  text: ({ secret, key }) =>
    [
      `Key ${key.id} on the ${printable(key.plan)} plan. Its secret, shown this once:`,
      "",
      `  ${secret}`,
      "",
    ].join("\n"),
};

/** Times are ISO 8601, what is absent is `null`. */
function keyToJson(key: ApiKey): object {
  return {
    id: key.id,
    hint: key.hint,
    plan: key.plan,
    limits: key.limits,
    label: key.label ?? null,
    createdAt: isoOrNull(key.createdAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    bannedUntil: isoOrNull(key.bannedUntil),
    usage: { minute: windowToJson(key.usage.minute), day: windowToJson(key.usage.day) },
  };
}

function keysToTable(keys: readonly ApiKey[], now: number): string {
  const rows = keys.map((key) => [
    key.id,
    `${key.hint}…`,
    printable(key.label ?? "-"),
    printable(key.plan),
    spent(key.usage.minute),
    spent(key.usage.day),
    short(key.createdAt),
    short(key.lastUsedAt),
    short(key.expiresAt),
    state(key, now),
  ]);
  return table([
    ["ID", "SECRET", "LABEL", "PLAN", "MINUTE", "DAY", "CREATED", "LAST USED", "EXPIRES", "STATE"],
    ...rows,
  ]);
}

/** The gravest of what is wrong with a key. */
function state({ revokedAt, expiresAt, bannedUntil }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return `revoked ${short(revokedAt)}`;
  if (expiresAt !== undefined && now >= expiresAt) return `expired ${short(expiresAt)}`;
  // To the second, since the first ban lasts but a minute.
  return bannedUntil === undefined ? "good" : `banned until ${exact(bannedUntil)}`;
}

function spent({ limit, remaining }: Quota): string {
  return `${String(limit - remaining)}/${String(limit)}`;
}

function windowToJson({ limit, remaining, resetAt }: Quota): object {
  return { limit, remaining, resetAt: isoOrNull(resetAt) };
}

function isoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : iso(time);
}

function short(time: number | undefined): string {
  return time === undefined
    ? "-"
    : iso(time)
        .replace(/:\d\d\.\d{3}Z$/, "")
        .replace("T", " ");
}

function exact(time: number): string {
  return iso(time)
    .replace(/\.\d{3}Z$/, "")
    .replace("T", " ");
}

/** The last time that a `Date` can tell. */
const LAST_TIME = 8_640_000_000_000_000;

/** A later time, as others may have stored it, is the last one. */
function iso(time: number): string {
  return new Date(Math.min(time, LAST_TIME)).toISOString();
}

/** Text that others chose, without what a terminal would obey instead of show. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, "\uFFFD");
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
