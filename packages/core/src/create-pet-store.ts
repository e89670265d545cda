import type { ResultAsync } from "neverthrow";
import { createClockReader, type Clock } from "./clock.js";
import type { Context } from "./context.js";
import { storageUnavailable, type PetStoreError } from "./errors.js";
import { createEvents, type Events } from "./events/events.js";
import { createKeyIds } from "./keys/key-format.js";
import { createKeyRing, type KeyRing } from "./keys/key-ring.js";
import { createAnonymousBuckets } from "./limits/anonymous.js";
import { createPlanCheck, type Plan } from "./limits/plan.js";
import type { Quota } from "./limits/quota.js";
import { createCaller, createTrustedPets } from "./operations/callers.js";
import type { Caller, TrustedPets } from "./operations/callers.js";
import { createCalls } from "./operations/calls.js";
import { parseSettings, type PetStoreOptions } from "./settings.js";
import { signalChannel } from "./events/signals.js";
import type { StorageWarning } from "./storage/storage.js";

// From a public union: an error that a declaration of the root imports by its own name cannot be written out.
type CloseError = Extract<PetStoreError, { readonly code: "storage_unavailable" }>;

/** A pet store: the engine that `createPetStore` returns. */
export interface PetStore {
  /**
   * Returns the operations of the client with this API key. Charges nothing and does no I/O. `clientAddress`,
   * normally the network address, limits callers without a valid key: callers with the same client address (for
   * IPv6, the same /64) share a bucket of the Free plan, and so do callers without a client address.
   */
  as(apiKey: string | undefined, clientAddress?: string): Caller;
  /** Returns the quota of callers without a valid key from this client address, without charging it. */
  anonymousQuota(clientAddress?: string): Quota;
  /** The clock of the store's windows, bans and expiries; when that fails, its last good time. Never throws. */
  readonly clock: Clock;
  /** All plans by name: the standard plans and those of the host. */
  readonly plans: Readonly<Record<string, Plan>>;
  readonly trusted: TrustedPets;
  readonly keys: KeyRing;
  readonly events: Events;
  /** Refuses new calls (`store_closed`), lets running ones finish, closes the storage. Later calls: the same result. */
  close(): ResultAsync<void, CloseError>;
}

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
  const { clock, anonymousLimits, maxAnonymousClients, closeTimeoutSeconds, ...settings } =
    parseSettings(options);
  const { storage, random } = settings;
  const reader = createClockReader(clock);
  const now = () => reader.lastReading().now;
  const { events, emit, flush, end } = createEvents(now);
  const anonymous = createAnonymousBuckets(anonymousLimits, maxAnonymousClients, reader);
  const newKeyId = createKeyIds(random);
  const bans = signalChannel("petstore:ban");
  const warnings = signalChannel("petstore:storage-warning");
  const calls = createCalls();
  const warn = ({ code, message }: StorageWarning): void => {
    emit({ type: "storage_warning", keyId: undefined, code, message });
    warnings.publish({ code });
  };
  storage.onWarning?.(warn);
  const checkPlan = createPlanCheck(settings.plans, warn);
  const context: Context = { ...settings, ...reader, anonymous, newKeyId, checkPlan, emit, bans };

  const closeStorage = async () => {
    flush();
    return (await storage.close()).mapErr(storageUnavailable);
  };
  let closing: ResultAsync<void, CloseError> | undefined;

  return Object.freeze({
    as: (apiKey, clientAddress) => createCaller(context, calls, apiKey, clientAddress),
    anonymousQuota: (clientAddress) => anonymous.peek(clientAddress),
    clock: Object.freeze({ now }),
    plans: Object.freeze(Object.fromEntries(settings.plans)),
    trusted: createTrustedPets(context, calls),
    keys: createKeyRing(context, (call) => calls.run(call, (error) => error)),
    events,
    close: () => (closing ??= calls.close(closeTimeoutSeconds, closeStorage).map(end).orTee(flush)),
  } satisfies PetStore);
}
