import { hash } from "node:crypto";
import { tokenOf, type Storage } from "@petstore/core";
import { LINE_FEED, type Entry } from "./pet-file.js";

/** Recognises the lines that an earlier import has added. */
export interface LineKeys {
  /** Returns the idempotency keys of a group: the same for the same text in the same line of any file. */
  readonly keysOf: (entries: readonly Entry[], heading: Buffer | undefined) => readonly string[];
  /** Makes a storage find keys that have expired, too, as long as they are not removed. */
  readonly wrap: (storage: Storage) => Storage;
  /** Returns until when the import may be repeated, for the operator; `undefined` if no key was used. */
  readonly advice: () => string | undefined;
}

/** How long expired keys are kept if only imports add keys, in milliseconds. */
const KEPT = 30 * 86_400_000;

/** Creates the keys of one import. */
export function createLineKeys(): LineKeys {
  let expired = 0;
  let firstExpiry = Infinity;
  let isAdding = false;
  // Tokens in the order of the lines: the storage adds random ones at a third of the speed.
  let ordered = new Map<string, string>();
  return {
    keysOf: (entries, heading) => {
      const keys = entries.map((entry) => keyOf(entry, heading));
      ordered = new Map(keys.map((key) => [tokenOf(key), key]));
      return keys;
    },
    wrap: (storage) => ({
      ...storage,
      pets: {
        ...storage.pets,
        createOnce: async (pet, request) => {
          // An earlier time finds expired keys. Until the first new line, it is 1970, so that none is removed.
          const now = isAdding ? request.now - KEPT : 0;
          const token = ordered.get(request.token) ?? request.token;
          const created = await storage.pets.createOnce(pet, { ...request, token, now });
          if (created.isErr()) return created;
          const { expiresAt, isReplay } = created.value;
          isAdding ||= !isReplay;
          if (expiresAt <= request.now) expired += 1;
          else firstExpiry = Math.min(firstExpiry, expiresAt);
          return created;
        },
      },
    }),
    advice: () => {
      if (expired > 0) return expiredAdvice(expired);
      if (firstExpiry === Infinity) return undefined;
      const time = `${new Date(firstExpiry).toISOString().slice(0, 19)}Z`;
      return `this command may be repeated until ${time}: lines that were imported are skipped`;
    },
  };
}

function keyOf({ first, bytes }: Entry, heading: Buffer | undefined): string {
  // The heading says which field is which.
  const text = heading === undefined ? bytes : Buffer.concat([heading, LINE_FEED, bytes]);
  return `import:${String(first).padStart(12, "0")}:${hash("sha256", text, "base64url")}`;
}

function expiredAdvice(expired: number): string {
  const count = expired.toLocaleString("en-US");
  return `${count} of them were imported more than 24 hours ago: their keys have expired and may be forgotten at any time; use --again to import them a second time`;
}
