import { keyStateAt, type ApiKey, type IssuedKey, type PurgedKeys } from "@petstore/core";
import { replaceUnprintable, windowNames } from "@petstore/core/facts";
import { MAX_TIME, type SecretState } from "@petstore/core/internal";
import stringWidth from "string-width";
import type { Terminal } from "../terminal.js";

interface View extends Pick<Terminal, "columns"> {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface Renderer<T> {
  /** Whether it has a secret, which cannot be printed again. */
  readonly isShownOnce?: true;
  json(value: T, now: number): unknown;
  text(value: T, view: View): string;
}

export const singleKey: Renderer<ApiKey> = {
  json: keyToJson,
  text: (key, { now }) => COLUMNS.flatMap((column) => describe(column, key, now)).join("\n"),
};

export const keyList: Renderer<readonly ApiKey[]> = {
  json: (keys, now) => keys.map((key) => keyToJson(key, now)),
  text: (keys, view) => table(COLUMNS, keys, view, LEAVING),
};

export const issuedKey: Renderer<IssuedKey> = {
  isShownOnce: true,
  json: ({ secret, key }, now) => ({ ...keyToJson(key, now), secret }),
  text: ({ secret, key }) =>
    `Key ${replaceUnprintable(key.id)} on the ${replaceUnprintable(key.plan)} plan. Its secret, shown only once:\n\n  ${secret}\n`,
};

export const purgedKeys: Renderer<PurgedKeys> = {
  json: ({ purged }) => ({ purged }),
  text: ({ purged }) => `purged ${String(purged)} ${purged === 1 ? "key" : "keys"}`,
};

/** The key as in the API, with its state and those of its secrets. Times are milliseconds since the Unix epoch. */
function keyToJson(key: ApiKey, now: number): object {
  const { name: state, secrets } = keyStateAt(key, now);
  return { ...key, state, secrets: secrets.map(({ name, ...rest }) => ({ ...rest, state: name })) };
}

interface Column {
  readonly heading: string;
  readonly cell: (key: ApiKey, now: number) => string;
}

const WINDOWS = windowNames.map((name) => ({
  heading: name.toUpperCase(),
  cell: ({ usage: { [name]: quota } }: { readonly usage: Partial<ApiKey["usage"]> }) =>
    quota === undefined ? "-" : `${quota.limit - quota.remaining}/${quota.limit}`,
}));
const STATE: Column = { heading: "STATE", cell: state };

const COLUMNS: readonly Column[] = [
  { heading: "ID", cell: (key) => replaceUnprintable(key.id) },
  { heading: "SECRET", cell: (key) => `${replaceUnprintable(key.hint)}…` },
  { heading: "LABEL", cell: (key) => replaceUnprintable(key.label ?? "-") },
  { heading: "PLAN", cell: (key) => replaceUnprintable(key.plan) },
  ...WINDOWS,
  { heading: "CREATED (UTC)", cell: (key) => short(key.createdAt) },
  { heading: "LAST USED (UTC)", cell: (key) => short(key.lastUsedAt) },
  { heading: "EXPIRES (UTC)", cell: (key) => short(key.expiresAt) },
  STATE,
];

/** The columns that are left out of a table that is too wide, the first one first. */
const FIRST_TO_LEAVE = ["CREATED (UTC)", "EXPIRES (UTC)", "SECRET", "LAST USED (UTC)"];
const USAGE = WINDOWS.map(({ heading }) => heading);
const LEAVING = [...FIRST_TO_LEAVE, ...USAGE, "PLAN"];
const LEAVING_SCREEN = [...FIRST_TO_LEAVE, "PLAN", ...USAGE.toReversed()];

/** For a screen that is refreshed: a ban counts down, and the usage stays when the screen is narrow. */
export function keysOnScreen(keys: readonly ApiKey[], view: View): string {
  const columns = COLUMNS.with(-1, { ...STATE, cell: presentState });
  return table(columns, keys, view, LEAVING_SCREEN);
}

const GAP = "  ";
/** To how many characters a label is cut, before a column is left out. */
const SHORT_LABEL = 20;
/** The fewest characters of a label that is cut. */
const SHORTEST_LABEL = 5;

/**
 * On a screen, until it fits, labels are cut, columns left out, labels cut further, and at last all lines cut. Libraries
 * such as cli-table3 leave out no columns, and would replace only the padding.
 */
function table(
  columns: readonly Column[],
  keys: readonly ApiKey[],
  { now, columns: room = Infinity }: View,
  leaving: readonly string[],
): string {
  const filled = (heading: string, cells: readonly string[]) => {
    const width = cells.reduce((widest, each) => Math.max(widest, stringWidth(each)), 0);
    return { heading, cells, width };
  };
  let kept = columns.map(({ heading, cell }) =>
    filled(heading, [heading, ...keys.map((key) => cell(key, now))]),
  );
  const excess = (): number =>
    kept.reduce((total, column) => total + column.width + GAP.length, -GAP.length) - room;
  const cutLabels = (most: (width: number) => number) =>
    kept.map((column) => {
      if (column.heading !== "LABEL") return column;
      const cells = column.cells.map((text) => cut(text, most(column.width)));
      return filled(column.heading, cells);
    });
  if (excess() > 0) kept = cutLabels(() => SHORT_LABEL);
  for (const next of leaving)
    if (excess() > 0) kept = kept.filter(({ heading }) => heading !== next);
  const missing = excess();
  if (missing > 0) kept = cutLabels((width) => Math.max(SHORTEST_LABEL, width - missing));
  const lines = Array.from({ length: keys.length + 1 }, (_, index) => {
    const padded = kept.map(({ cells, width }) => {
      const text = cells[index] ?? "";
      return text + " ".repeat(width - stringWidth(text));
    });
    return cut(padded.join(GAP).trimEnd(), room);
  });
  return lines.join("\n");
}

function cut(text: string, most: number): string {
  if (most === Infinity || stringWidth(text) <= most) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment);
    if (width >= most) break;
    kept += segment;
  }
  return `${kept}…`;
}

function describe({ heading, cell }: Column, key: ApiKey, now: number): readonly string[] {
  const cells = heading === "SECRET" ? keyStateAt(key, now).secrets.map(secret) : [cell(key, now)];
  return cells.map((text) => `${heading.padEnd(15)}  ${text}`);
}

function secret({ hint, name, at = MAX_TIME }: SecretState): string {
  const shown = `${replaceUnprintable(hint)}…`;
  if (name === "current") return shown;
  return `${shown}  ${name === "replaced" ? "replaced; accepted until" : "refused since"} ${exact(at)} UTC`;
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

function short(time: number | undefined): string {
  return time === undefined ? "-" : exact(time).slice(0, -3);
}

/** Shows a time that is too late for a `Date` as the latest one. */
function exact(time: number): string {
  return new Date(Math.min(time, MAX_TIME)).toISOString().slice(0, -5).replace("T", " ");
}
