import type { Pet, TrustedPets } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../store-error.js";
import type { Entry } from "./entry.js";
import type { Decode } from "./pet-format.js";

/** The store as a file uses it: whatever stands there, the store alone judges it. */
export interface UntrustedPets {
  createPets(inputs: readonly unknown[]): ReturnType<TrustedPets["createPets"]>;
}

/** An entry that is no pet, and why. */
export interface BadEntry {
  readonly entry: Entry;
  readonly reason: string;
}

/** What became of a batch; both in the order of the file. */
export interface AddedBatch {
  readonly pets: readonly Pet[];
  readonly bad: readonly BadEntry[];
}

interface Candidate {
  readonly entry: Entry;
  readonly input: unknown;
}

/**
 * Adds the pets of a batch in one atomic step, without the entries that are no pets. `Err`: why none
 * of them was added.
 */
export async function addBatch(
  store: UntrustedPets,
  decode: Decode,
  entries: readonly Entry[],
): Promise<Result<AddedBatch, string>> {
  const { candidates, bad } = readBatch(decode, entries);
  const added = await addGood(store, candidates);
  return added.map(({ pets, bad: refused }) => ({
    pets,
    bad: [...bad, ...refused].sort((one, other) => one.entry.first - other.entry.first),
  }));
}

function readBatch(
  decode: Decode,
  entries: readonly Entry[],
): { readonly candidates: readonly Candidate[]; readonly bad: readonly BadEntry[] } {
  const bad: BadEntry[] = [];
  const candidates: Candidate[] = [];
  const decoded = decode(entries);
  for (const [index, entry] of entries.entries()) {
    decoded[index]?.match(
      (input) => candidates.push({ entry, input }),
      (reason) => bad.push({ entry, reason }),
    );
  }
  return { candidates, bad };
}

/** Tries all; when the store names bad ones, tries again without them. */
async function addGood(
  store: UntrustedPets,
  candidates: readonly Candidate[],
): Promise<Result<AddedBatch, string>> {
  const added = await store.createPets(candidates.map(({ input }) => input));
  if (added.isOk()) return ok({ pets: added.value.pets, bad: [] });
  const { error } = added;
  if (error.code !== "invalid_pets" || error.problems.length === 0) {
    return err(describeStoreError(error));
  }

  const reasons = new Map(error.problems.map(({ index, message }) => [index, message]));
  const good = candidates.filter((_, index) => !reasons.has(index));
  const bad = candidates.flatMap(({ entry }, index) => {
    const reason = reasons.get(index);
    return reason === undefined ? [] : [{ entry, reason }];
  });
  return (await addGood(store, good)).map(({ pets }) => ({ pets, bad }));
}
