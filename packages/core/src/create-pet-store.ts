import type { ResultAsync } from "neverthrow";
import { createClockReader } from "./clock.js";
import type { Context } from "./context.js";
import { storageUnavailable, type StorageUnavailable } from "./errors.js";
import { createEvents } from "./events.js";
import { createKeyIds } from "./keys/key-format.js";
import { createAnonymousBuckets } from "./limits/anonymous.js";
import { createCalls } from "./operations/calls.js";
import { createCaller, createKeyRing, createTrustedPets } from "./operations/surface.js";
import type { PetStore } from "./pet-store.js";
import { parseSettings, type PetStoreOptions } from "./settings.js";

/**
 * Creates a pet store: the engine, without a network.
 *
 * ```ts
 * const store = createPetStore();
 * const issued = await store.keys.issue({ plan: "free", label: "acme" });
 * ```
 * @throws TypeError that names the option, when an option is wrong.
 */
export function createPetStore(options: PetStoreOptions = {}): PetStore {
  const { storage, clock, plans, ban, random, ...settings } = parseSettings(options);
  const { events, emit, flush } = createEvents();
  const readClock = createClockReader(clock);
  const anonymous = createAnonymousBuckets(
    settings.anonymousLimits,
    settings.maxAnonymousOrigins,
    readClock,
  );
  const newKeyId = createKeyIds(random);
  const context: Context = { storage, plans, ban, anonymous, random, newKeyId, readClock, emit };
  const calls = createCalls();

  let closing: ResultAsync<void, StorageUnavailable> | undefined;
  const close = (): ResultAsync<void, StorageUnavailable> =>
    calls.close(settings.closeTimeoutSeconds, async () => {
      flush();
      const closed = await storage.close();
      return closed.mapErr(storageUnavailable);
    });

  return Object.freeze({
    as: (apiKey, origin) => createCaller(context, calls, apiKey, origin),
    anonymousQuota: (origin) => anonymous.peek(origin),
    trusted: createTrustedPets(context, calls),
    keys: createKeyRing(context, calls),
    events,
    close: () => (closing ??= close()),
  } satisfies PetStore);
}
