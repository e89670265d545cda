import { hash } from "node:crypto";
import { parseNewPet, systemClock, type NewPet, type Storage } from "@petstore/core";
import type { Entry } from "./entries.js";

/** What became of an entry. It is `there` if an earlier import has added it, and `failed` if the storage failed. */
export interface Outcome {
  readonly entry: Entry;
  readonly kind: "added" | "there" | "rejected" | "failed";
  /** Why it was rejected or failed. */
  readonly reason: string;
}

/** Adds entries to a storage. */
export interface EntryAdder {
  readonly add: (entry: Entry, heading: Buffer | undefined) => Promise<Outcome>;
  /** Returns until when the import may be repeated, for the operator; `undefined` if it may not. */
  readonly advice: () => string | undefined;
}

/** How long a line is known that was imported, in milliseconds. */
const KNOWN = 86_400_000;
/** How long it is kept, and found, if only imports add lines. */
const KEPT = 30 * KNOWN;

/** Creates what adds entries; with `again`, also those that an earlier import has added. */
export function createEntryAdder(storage: Storage, again: boolean): EntryAdder {
  const clock = storage.clock ?? systemClock;
  let expired = 0;
  let firstExpiry = Infinity;

  async function addOnce(entry: Entry, pet: NewPet, heading?: Buffer): Promise<Outcome> {
    const now = clock.now();
    const { token, fingerprint } = identify(entry, heading);
    // The earlier time also finds lines that have expired, as long as they are not removed.
    const request = { token, fingerprint, now: now - KEPT, expiresAt: now + KNOWN };
    const created = await storage.pets.createOnce(pet, request);
    if (created.isErr()) return { entry, kind: "failed", reason: created.error.message };
    const creation = created.value;
    if (creation.expiresAt <= now) expired += 1;
    else firstExpiry = Math.min(firstExpiry, creation.expiresAt);
    if (creation.fingerprint !== fingerprint) return { entry, kind: "rejected", reason: OTHER_PET };
    return { entry, kind: creation.isReplay ? "there" : "added", reason: "" };
  }

  return {
    add: async (entry, heading) => {
      if (entry.pet.isErr()) return { entry, kind: "rejected", reason: entry.pet.error };
      const pet = parseNewPet(entry.pet.value);
      if (pet.isErr()) return { entry, kind: "rejected", reason: pet.error.message };
      if (!again) return addOnce(entry, pet.value, heading);
      const created = await storage.pets.create(pet.value);
      if (created.isErr()) return { entry, kind: "failed", reason: created.error.message };
      return { entry, kind: "added", reason: "" };
    },
    advice: () => {
      if (expired > 0) return expiredAdvice(expired);
      if (firstExpiry === Infinity) return undefined;
      const time = `${new Date(firstExpiry).toISOString().slice(0, 19)}Z`;
      return `this command may be repeated until ${time}: lines that were imported are skipped`;
    },
  };
}

const OTHER_PET = "An earlier import added another pet for the same line.";

/** The same for the same text in the same line of any file. The heading says which field is which. */
function identify({ first, bytes }: Entry, heading: Buffer | undefined) {
  const text = heading === undefined ? bytes : Buffer.concat([heading, Buffer.from("\n"), bytes]);
  const digest = hash("sha256", text, "base64url");
  return {
    // In the order of the lines: with random tokens, a million lines take 65 s of CPU instead of 28 s.
    token: `line ${String(first).padStart(10, "0")} ${digest.slice(0, 16)}`,
    fingerprint: digest.slice(16),
  };
}

function expiredAdvice(expired: number): string {
  const count = expired.toLocaleString("en-US");
  return `${count} of them were imported more than 24 hours ago: their keys have expired and may be forgotten at any time; use --again to import them a second time`;
}
