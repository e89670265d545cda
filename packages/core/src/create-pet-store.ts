import { ResultAsync } from "neverthrow";
import { storageUnavailable, type StorageUnavailable } from "./errors.js";
import { createEvents } from "./events/events.js";
import { createKeyRing } from "./keys/create-key-ring.js";
import { createAnonymousBuckets } from "./limits/anonymous.js";
import { createTimekeeper } from "./limits/reading.js";
import { createCaller } from "./operations/caller.js";
import { createGate } from "./operations/gate.js";
import { createGatedKeys } from "./operations/gated-keys.js";
import { createGatedPets } from "./operations/gated-pets.js";
import type { PetStore } from "./pet-store.js";
import { parseSettings, type PetStoreOptions } from "./settings.js";
import { guardStorage } from "./storage/guard-storage.js";

/**
 * Creates a pet store: the engine, with no network.
 *
 * ```ts
 * const store = createPetStore();
 * const issued = await store.keys.issue({ plan: "free", label: "acme" });
 * ```
 * @throws TypeError that names the option, when an option is wrong. Nothing else ever throws.
 */
export function createPetStore(options: PetStoreOptions = {}): PetStore {
  const { clock, plans, ban, random, ...settings } = parseSettings(options);
  const storage = guardStorage(settings.storage);
  const read = createTimekeeper(clock);
  const anonymous = createAnonymousBuckets(
    settings.anonymousLimits,
    settings.maxAnonymousOrigins,
    read,
  );
  const gate = createGate();
  const { pets, usage } = settings.storage;
  const { events, tell, deliver } = createEvents();
  const parts = { gate, pets, usage, anonymous, plans, ban, read, tell };

  let closing: ResultAsync<void, StorageUnavailable> | undefined;
  const close = (): ResultAsync<void, StorageUnavailable> =>
    ResultAsync.fromSafePromise(gate.close())
      .andTee(deliver)
      .andThen(() => storage.close())
      .mapErr(storageUnavailable);

  return Object.freeze({
    as: (apiKey, origin) => createCaller(parts, apiKey, origin),
    anonymousQuota: (origin) => anonymous.peek(origin),
    trusted: createGatedPets(parts, gate),
    keys: createGatedKeys(createKeyRing({ storage, plans, ban, random, read, tell }), gate),
    events,
    close: () => (closing ??= close()),
  } satisfies PetStore);
}
