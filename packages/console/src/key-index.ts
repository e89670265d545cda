import { keyStateAt, type ApiKey, type Clock, type KeyError, type KeyRing } from "@petstore/core";
import { byUse } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import type { Input } from "./inputs.js";
import { PAGE_SIZE, type KeyList, type ShownKey, type ShownState } from "./protocol.js";

type Query = Input<"keys/list">;

/** How many keys are read, or looked at, before other work of the process runs. */
const BATCH = 250;
const KEYS_PER_TURN = 2_000;
/** How long the keys are used before they are read again, at least, in milliseconds. */
const LEAST_AGE = 1_000;
/** They are used for at least this many times as long as reading them took. */
const AGE_PER_DURATION = 10;

const WEEK = 604_800_000;

interface Snapshot {
  readonly keys: Map<string, ApiKey>;
  /** The same keys, in each order that a query has had. */
  orders: Map<Query["order"], Promise<readonly ApiKey[]>>;
  lastId: string | undefined;
  /** When all of them were read, and how long that took. */
  readAt: number;
  duration: number;
}

/**
 * Keeps all keys of a store in memory, for search and order: a storage lists keys only in the order of issue. A key takes
 * about 430 bytes. `list` reads anew what it shows of a key. `put` is called with a key that this console has changed.
 */
export function createKeyIndex(keyRing: KeyRing, clock: Clock) {
  let snapshot = emptySnapshot();
  // What is being read will replace it.
  let fresh = snapshot;
  let reading: Promise<Result<void, KeyError>> | undefined;

  const readAll = async (): Promise<Result<void, KeyError>> => {
    const start = clock.now();
    fresh = emptySnapshot();
    const done = await readOn(keyRing, fresh);
    if (done.isErr()) return done;
    fresh.readAt = clock.now();
    fresh.duration = fresh.readAt - start;
    snapshot = fresh;
    return done;
  };
  /** New keys are read at once. Many keys are read again only now and then, beside the calls. */
  const refresh = async (): Promise<Result<void, KeyError>> => {
    const { readAt, duration } = snapshot;
    const age = clock.now() - readAt;
    if (age < 0 || age >= Math.max(LEAST_AGE, duration * AGE_PER_DURATION)) {
      reading ??= readAll().finally(() => (reading = undefined));
      if (duration <= LEAST_AGE / AGE_PER_DURATION) return reading;
    }
    return readOn(keyRing, snapshot);
  };

  return {
    put: (key: ApiKey): void => {
      for (const each of [snapshot, fresh]) {
        each.keys.set(key.id, key);
        each.orders = new Map();
      }
    },
    list: async (query: Query): Promise<Result<KeyList, KeyError>> => {
      const done = await refresh();
      if (done.isErr()) return err(done.error);
      const now = clock.now();
      const { keys, readAt } = snapshot;
      const { ids, ...found } = await select(await inOrder(snapshot, query.order), query, now);
      const shown: ShownKey[] = [];
      for (const key of await Promise.all(ids.map((id) => keyRing.find(id)))) {
        if (key.isOk()) shown.push(shownKey(key.value, now));
        // A key may have been purged since the index was read.
        else if (key.error.code !== "key_not_found") return err(key.error);
      }
      return ok({ ...found, keys: shown, total: keys.size, readAt });
    },
  };
}

function emptySnapshot(): Snapshot {
  return { keys: new Map(), orders: new Map(), lastId: undefined, readAt: -Infinity, duration: 0 };
}

async function readOn(keyRing: KeyRing, snapshot: Snapshot): Promise<Result<void, KeyError>> {
  for (;;) {
    const page = await keyRing.list({ limit: BATCH, after: snapshot.lastId });
    if (page.isErr()) return err(page.error);
    const { keys, next } = page.value;
    // A key that is there already was changed while this page was read.
    for (const key of keys) if (!snapshot.keys.has(key.id)) snapshot.keys.set(key.id, key);
    snapshot.lastId = keys.at(-1)?.id ?? snapshot.lastId;
    if (keys.length > 0) snapshot.orders = new Map();
    if (next === undefined) return ok();
    await nextTurn();
  }
}

function inOrder({ keys, orders }: Snapshot, order: Query["order"]): Promise<readonly ApiKey[]> {
  const sorted = orders.get(order) ?? sort([...keys.values()].reverse(), COMPARE[order]);
  orders.set(order, sorted);
  return sorted;
}

/** An id sorts by its time of issue. */
const COMPARE: Readonly<Record<Query["order"], typeof byUse>> = {
  newest: (one, other) => (one.id < other.id ? 1 : -1),
  use: byUse,
};

/** Sorts parts of the keys, and merges them. */
async function sort(keys: readonly ApiKey[], compare: typeof byUse): Promise<readonly ApiKey[]> {
  if (keys.length <= KEYS_PER_TURN) return keys.toSorted(compare);
  const half = keys.length >> 1;
  const one = await sort(keys.slice(0, half), compare);
  const other = await sort(keys.slice(half), compare);
  const sorted: ApiKey[] = [];
  let [at, otherAt] = [0, 0];
  // Each visit takes one key: all keys of one half may come before those of the other.
  await inTurns(keys, () => {
    const [key, next] = [one[at], other[otherAt]];
    if (next && (!key || compare(next, key) < 0)) {
      sorted.push(next);
      otherAt += 1;
    } else if (key) {
      sorted.push(key);
      at += 1;
    }
  });
  return sorted;
}

/** Visits each key. Other work of the process runs now and then. */
async function inTurns(keys: readonly ApiKey[], visit: (key: ApiKey) => void): Promise<void> {
  for (const [index, key] of keys.entries()) {
    visit(key);
    if (index % KEYS_PER_TURN === KEYS_PER_TURN - 1) await nextTurn();
  }
}

const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

async function select(keys: readonly ApiKey[], { search, state, plan, page }: Query, now: number) {
  const isFound = matcherOf(search);
  const counts = { all: 0, active: 0, expiring: 0, replaced: 0, banned: 0, expired: 0, revoked: 0 };
  const matching: string[] = [];
  await inTurns(keys, (key) => {
    if ((plan !== undefined && key.plan !== plan) || !isFound(key)) return;
    const { states } = statesOf(key, now);
    counts.all += 1;
    for (const each of states) counts[each] += 1;
    if (state === undefined || states.includes(state)) matching.push(key.id);
  });
  const ids = matching.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
  return { ids, counts, matching: matching.length };
}

export function shownKey(key: ApiKey, now: number): ShownKey {
  return { ...key, ...statesOf(key, now) };
}

function statesOf(key: ApiKey, now: number): Pick<ShownKey, "states" | "secrets"> {
  const { name, secrets } = keyStateAt(key, now);
  const states: ShownState[] = [name];
  if (secrets.some((secret) => secret.name === "replaced")) states.push("replaced");
  const isOver = name === "revoked" || name === "expired";
  if (!isOver && (key.expiresAt ?? Infinity) - now < WEEK) states.push("expiring");
  return { states, secrets };
}

function matcherOf(search: string): (key: ApiKey) => boolean {
  const wanted = search.trim().toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(wanted);
  return ({ id, label = "", secrets }) =>
    // A longer part of a secret is found by its hint, too.
    has(label) ||
    has(id) ||
    secrets.some(({ hint }) => has(hint) || wanted.startsWith(hint.toLowerCase()));
}
