import { hash } from "node:crypto";
import type { CreationRequest, Storage, StorageError } from "@petstore/core/storage";
import { systemClock } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import { lineCount, type Entry } from "./read-pets.js";

export interface Tally {
  pets: number;
  /** Lines that an earlier import had added. */
  linesThere: number;
  /** Those of them that may be forgotten. */
  linesExpired: number;
  /** Everything before this line is done. */
  nextLine: number;
  /** Whether the file ends in a record without a line break. */
  isOpenEnded: boolean;
}

/** `Err` says which entry of the group is the first that was not added, and why. */
export type Added = Promise<Result<void, { readonly at: number; readonly reason: string }>>;

/** Rejects the pets without an id. */
export async function* withIds(
  groups: AsyncIterable<readonly Entry[]>,
): AsyncIterable<readonly Entry[]> {
  for await (const group of groups)
    yield group.map((entry) => ({
      ...entry,
      pet: entry.pet.andThen((pet) => (pet.id === undefined ? err(NO_ID) : ok(pet))),
    }));
}

const NO_ID = "Its id is not an integer from 1 to 2^63 − 1.";

/** Adds the pets of a group under their own ids, all or none. */
export async function importGroup(
  { pets }: Storage,
  entries: readonly Entry[],
  tally: Tally,
): Added {
  const moved = entries.flatMap((entry) => {
    if (entry.pet.isErr() || entry.pet.value.id === undefined) return [];
    return { entry, pet: { ...entry.pet.value, id: entry.pet.value.id } };
  });
  if (moved.length === 0) return ok();
  const imported = await pets.import(moved.map(({ pet }) => pet));
  if (imported.isErr()) return err({ at: 0, reason: imported.error.message });
  const { added, conflict } = imported.value;
  // A line may also differ from an earlier one, which has the same id.
  const other = moved.findLast(({ pet }) => pet.id === conflict)?.entry;
  if (other) return err({ at: 0, reason: `line ${other.first} has the id of a pet that differs` });
  tally.pets += added;
  tally.linesThere += moved.length - added;
  return ok();
}

/** Adds the pets of a group under new ids; the storage commits them together. */
export async function addGroup(
  storage: Storage,
  entries: readonly Entry[],
  again: boolean,
  tally: Tally,
): Added {
  const added = await Promise.all(entries.map((entry) => addPet(storage, entry, again, tally)));
  const at = added.findIndex((result) => result.isErr());
  const failure = added[at];
  return failure?.isErr() ? err({ at, reason: failure.error.message }) : ok();
}

/** Adds the pet of an entry, if it has one and no earlier import has added it. With `again`, adds it in any case. */
async function addPet(
  { pets, clock = systemClock }: Storage,
  entry: Entry,
  again: boolean,
  tally: Tally,
): Promise<Result<void, StorageError>> {
  if (entry.pet.isErr()) return ok();
  const now = clock.now();
  const created = again
    ? (await pets.create(entry.pet.value)).map(() => ({ replayed: false, expiresAt: Infinity }))
    : await pets.createOnce(entry.pet.value, requestOf(entry, now));
  if (created.isErr()) return err(created.error);
  const { replayed, expiresAt } = created.value;
  if (!replayed) tally.pets += 1;
  else tally.linesThere += lineCount(entry);
  if (expiresAt <= now) tally.linesExpired += lineCount(entry);
  return ok();
}

/** How long a line is known that was imported, in milliseconds. */
const KNOWN = 86_400_000;
/** How long it is kept, and found, if only imports add lines. */
const KEPT = 30 * KNOWN;

/** Identifies the same text in the same line of any file, under the same heading. */
function requestOf({ first, heading, bytes }: Entry, now: number): CreationRequest {
  const digest = hash("sha256", Buffer.concat([heading, bytes]), "base64url").slice(0, 16);
  // The earlier time also finds lines that have expired, as long as they are not removed.
  const times = { now: now - KEPT, expiresAt: now + KNOWN };
  // In the order of the lines: with random tokens, a million lines take twice as long.
  return { token: `line ${String(first).padStart(10, "0")} ${digest}`, fingerprint: "", ...times };
}
