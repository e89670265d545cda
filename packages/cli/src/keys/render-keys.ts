import type { ApiKey, IssuedKey, WindowQuota } from "@petstore/core";

/** Renders a value in two ways. */
export interface Renderer<T> {
  /** Returns the value that `--json` prints. */
  json(value: T): unknown;
  /** Returns the text to print without `--json`; `now` is in milliseconds since the Unix epoch. */
  text(value: T, now: number): string;
}

/** Renders one key. */
export const singleKey: Renderer<ApiKey> = {
  json: keyToJson,
  text: (key, now) => keysToTable([key], now),
};

/** Renders a list of keys: a JSON array or a table. */
export const keyList: Renderer<readonly ApiKey[]> = {
  json: (keys) => keys.map(keyToJson),
  text: keysToTable,
};

/** Renders a key with its secret. */
export const issuedKey: Renderer<IssuedKey> = {
  json: ({ secret, key }) => ({ ...keyToJson(key), secret }),
  text: ({ secret, key }) =>
    [
      `Key ${key.id} on the ${printable(key.plan)} plan. Its secret, shown only once:`,
      "",
      `  ${secret}`,
      "",
    ].join("\n"),
};

/** Times are ISO 8601; an absent value is `null`. */
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
    used(key.usage.minute),
    used(key.usage.day),
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

/** If several states apply, the key is revoked rather than expired, and expired rather than banned. */
function state({ revokedAt, expiresAt, bannedUntil }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return `revoked ${short(revokedAt)}`;
  if (expiresAt !== undefined && now >= expiresAt) return `expired ${short(expiresAt)}`;
  // To the second, because the first ban lasts only a minute.
  return bannedUntil === undefined ? "good" : `banned until ${exact(bannedUntil)}`;
}

function used({ limit, remaining }: WindowQuota): string {
  return `${String(limit - remaining)}/${String(limit)}`;
}

function windowToJson({ limit, remaining, resetAt }: WindowQuota): object {
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

/** The latest time that a `Date` can represent. */
const LAST_TIME = 8_640_000_000_000_000;

/** Shows a time that is too late for a `Date` as the latest one. */
function iso(time: number): string {
  return new Date(Math.min(time, LAST_TIME)).toISOString();
}

/** Replaces the control characters that a terminal would interpret. */
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
