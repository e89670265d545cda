import { keyStateAt, type ApiKey, type IssuedKey, type PurgedKeys } from "@petstore/core";
import { windowNames, type WindowQuota } from "@petstore/core/facts";
import type { SecretState } from "@petstore/core/internal";
import { replaceUnprintable } from "../printable.js";
import { table, type Column } from "./table.js";

/** The time and the place for which a value is shown as text. */
export interface View {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The width of the terminal in characters; `undefined` if there is none. */
  readonly columns: number | undefined;
}

/** Renders a value in two ways. */
export interface Renderer<T> {
  /** Whether what is not read is lost for ever. */
  readonly isShownOnce?: true;
  /** Returns the value that `--json` prints at this time. */
  json(value: T, now: number): unknown;
  /** Returns the text to print without `--json`. */
  text(value: T, view: View): string;
}

/** Renders one key. */
export const singleKey: Renderer<ApiKey> = {
  json: keyToJson,
  text: (key, { now }) => COLUMNS.flatMap((column) => describe(column, key, now)).join("\n"),
};

/** Renders a list of keys: a JSON array or a table. */
export const keyList: Renderer<readonly ApiKey[]> = {
  json: (keys, now) => keys.map((key) => keyToJson(key, now)),
  text: keysToTable,
};

/** Renders a key with its secret. */
export const issuedKey: Renderer<IssuedKey> = {
  isShownOnce: true,
  json: ({ secret, key }, now) => ({ ...keyToJson(key, now), secret }),
  text: ({ secret, key }) =>
    [
      `Key ${replaceUnprintable(key.id)} on the ${replaceUnprintable(key.plan)} plan. Its secret, shown only once:`,
      "",
      `  ${secret}`,
      "",
    ].join("\n"),
};

/** Renders how many keys were purged. */
export const purgedKeys: Renderer<PurgedKeys> = {
  json: ({ purged }) => ({ purged }),
  text: ({ purged }) => `purged ${String(purged)} ${purged === 1 ? "key" : "keys"}`,
};

/** Times are milliseconds since the Unix epoch, as in the API; an absent value is `null`. */
function keyToJson(key: ApiKey, now: number): object {
  const { name: state, secrets } = keyStateAt(key, now);
  return {
    id: key.id,
    hint: key.hint,
    plan: key.plan,
    limits: key.limits,
    state,
    secrets: secrets.map(({ hint, name, at }) => ({ hint, state: name, at: at ?? null })),
    label: key.label ?? null,
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt ?? null,
    expiresAt: key.expiresAt ?? null,
    revokedAt: key.revokedAt ?? null,
    bannedUntil: key.bannedUntil ?? null,
    usage: key.usage,
  };
}

/** The columns of a list; also the lines of one key. */
const COLUMNS: readonly Column<ApiKey>[] = [
  { heading: "ID", cell: (key) => replaceUnprintable(key.id) },
  { heading: "SECRET", cell: (key) => `${replaceUnprintable(key.hint)}…`, dropOrder: 3 },
  { heading: "LABEL", cell: (key) => replaceUnprintable(key.label ?? "-"), shrinks: true },
  {
    heading: "PLAN",
    cell: (key) => replaceUnprintable(key.plan),
    dropOrder: 5 + windowNames.length,
  },
  ...windowNames.map((name, index) => ({
    heading: name.toUpperCase(),
    cell: (key: ApiKey) => used(key.usage[name]),
    dropOrder: 5 + index,
  })),
  { heading: "CREATED (UTC)", cell: (key) => short(key.createdAt), dropOrder: 1 },
  { heading: "LAST USED (UTC)", cell: (key) => short(key.lastUsedAt), dropOrder: 4 },
  { heading: "EXPIRES (UTC)", cell: (key) => short(key.expiresAt), dropOrder: 2 },
  { heading: "STATE", cell: state },
];

function keysToTable(keys: readonly ApiKey[], { now, columns }: View): string {
  return table(COLUMNS, keys, now, columns);
}

/** Which columns leave a screen last. */
const LAST_TO_LEAVE: ReadonlyMap<string, number> = new Map([
  ["PLAN", 5],
  ["DAY", 6],
  ["MINUTE", 7],
]);

const SCREEN_COLUMNS = COLUMNS.map((column): Column<ApiKey> => {
  const { heading, dropOrder = Infinity } = column;
  if (heading === "STATE") return { ...column, cell: presentState };
  return { ...column, dropOrder: LAST_TO_LEAVE.get(heading) ?? dropOrder };
});

/** Renders keys for a screen that is refreshed: a ban counts down, and the usage stays when the screen is narrow. */
export function keysOnScreen(keys: readonly ApiKey[], { now, columns }: View): string {
  return table(SCREEN_COLUMNS, keys, now, columns);
}

/** Each secret has a line of its own. */
function describe({ heading, cell }: Column<ApiKey>, key: ApiKey, now: number): readonly string[] {
  const cells = heading === "SECRET" ? keyStateAt(key, now).secrets.map(secret) : [cell(key, now)];
  return cells.map((text) => `${heading.padEnd(15)}  ${text}`);
}

function secret({ hint, name, at }: SecretState): string {
  const time = `${exact(at ?? LAST_TIME)} UTC`;
  const ends = {
    current: "",
    replaced: `  replaced; accepted until ${time}`,
    refused: `  refused since ${time}`,
  };
  return `${replaceUnprintable(hint)}…${ends[name]}`;
}

function state(key: ApiKey, now: number): string {
  const { name, at } = keyStateAt(key, now);
  if (at === undefined) return name;
  // To the second, because the first ban lasts only a minute.
  return name === "banned" ? `banned until ${exact(at)} UTC` : `${name} ${short(at)} UTC`;
}

/** The state in a few words, of which the first one is the same as in a list. */
function presentState(key: ApiKey, now: number): string {
  const { name, at = now } = keyStateAt(key, now);
  if (name !== "banned") return name;
  const seconds = Math.ceil((at - now) / 1_000);
  return seconds > 90 ? `banned ${Math.ceil(seconds / 60)} min` : `banned ${seconds} s`;
}

function used({ limit, remaining }: WindowQuota): string {
  return `${String(limit - remaining)}/${String(limit)}`;
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
