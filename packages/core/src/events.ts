import { inspect } from "node:util";
import { deepFrozen } from "./frozen.js";
import type { ApiKey } from "./keys/api-key.js";
import type { WindowName } from "./limits/windows.js";
import type { Pet } from "./pets/pet.js";
import type { StorageWarning } from "./storage/storage.js";

/** Taken when the module is loaded: the fake timers of a host's tests hold no event back. */
const { setImmediate } = globalThis;

interface StoreEvent<Type extends string> {
  readonly type: Type;
  /** When it happened, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The id of the API key that the event concerns, or whose request caused it; `undefined` if there is none. */
  readonly keyId: string | undefined;
}

interface KeyEvent<Type extends string> extends StoreEvent<Type> {
  readonly keyId: string;
  /** The key as it is after the event. */
  readonly key: ApiKey;
}

/** An API key was issued. */
export type KeyIssued = KeyEvent<"key_issued">;

/** An API key was revoked. Revoking it again emits nothing. */
export type KeyRevoked = KeyEvent<"key_revoked">;

/** An API key was given a new secret. */
export type KeyRotated = KeyEvent<"key_rotated">;

/** One secret of an API key was ended. */
export type SecretEnded = KeyEvent<"secret_ended">;

/** An API key was put on another plan. */
export type PlanChanged = KeyEvent<"plan_changed">;

/** The host lifted the ban of an API key. A ban that ends by itself emits nothing. */
export type BanLifted = KeyEvent<"ban_lifted">;

/** A request was refused because a limit was used up. */
export interface RateLimitExceeded extends StoreEvent<"rate_limit_exceeded"> {
  /** The client address of a request without a valid key, as passed to `store.as`. */
  readonly clientAddress: string | undefined;
  readonly window: WindowName;
  readonly limit: number;
}

/** An API key was banned for ignoring refusals. Requests refused during the ban emit nothing. */
export interface KeyBanned extends StoreEvent<"key_banned"> {
  readonly keyId: string;
  /** When the key is served again, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** A pet was added. */
export interface PetCreated extends StoreEvent<"pet_created"> {
  readonly pet: Pet;
}

/** A deprecated operation was used. */
export interface DeprecatedOperationUsed extends StoreEvent<"deprecated_operation_used"> {
  readonly operation: "getPet";
}

/** The storage has a warning for the operator. */
export interface StorageWarned extends StoreEvent<"storage_warning">, StorageWarning {
  readonly keyId: undefined;
}

/** Every event of a store: closed on `type`. */
export type PetStoreEvent =
  | KeyIssued
  | KeyRevoked
  | KeyRotated
  | SecretEnded
  | PlanChanged
  | RateLimitExceeded
  | KeyBanned
  | BanLifted
  | PetCreated
  | DeprecatedOperationUsed
  | StorageWarned;

/** Receives events. Errors that it throws, and promises that it returns, are ignored. */
export type Listener<Event> = (event: Event) => unknown;

/**
 * The events of this process, in the order in which they happened. An event is emitted after the result
 * of its call is known, and frozen. Listeners never delay a request or make it fail. All events have been
 * emitted when `store.close()` resolves; if it succeeds, none follows.
 */
export interface Events {
  /**
   * Adds a listener for one type of event. Returns a function that removes it.
   * @throws TypeError when there is no such type, or the listener is not a function.
   */
  on<Type extends PetStoreEvent["type"]>(
    type: Type,
    listener: Listener<Extract<PetStoreEvent, { readonly type: Type }>>,
  ): () => void;
  /**
   * Adds a listener for every event. Returns a function that removes it.
   * @throws TypeError when the listener is not a function.
   */
  onAny(listener: Listener<PetStoreEvent>): () => void;
}

/** Queues an event for the listeners. */
export type Emit = (event: PetStoreEvent) => void;

/**
 * Creates a store's events. `flush` passes queued events to the listeners at once; `end` does so for the last time:
 * nothing is emitted afterwards.
 */
export function createEvents(): {
  readonly events: Events;
  readonly emit: Emit;
  readonly flush: () => void;
  readonly end: () => void;
} {
  const listeners = new Set<Added>();
  const queue: PetStoreEvent[] = [];
  let hasEnded = false;

  const listenersOf = ({ type }: PetStoreEvent): readonly Added[] =>
    [...listeners].filter((added) => added.type === undefined || added.type === type);
  const flush = (): void => {
    for (const event of queue.splice(0)) {
      for (const { listener } of listenersOf(event)) notify(listener, event);
    }
  };
  const add = (added: Added): (() => void) => {
    listeners.add(added);
    return () => listeners.delete(added);
  };

  return {
    events: Object.freeze({
      onAny: (listener) => {
        refuseUnlessFunction(listener);
        return add({ type: undefined, listener });
      },
      on: (type, listener) => {
        if (!Object.hasOwn(TYPES, type))
          throw new TypeError(`No event is called ${inspect(type)}.`);
        refuseUnlessFunction(listener);
        return add({
          type,
          listener: (event) => (isOfType(event, type) ? listener(event) : undefined),
        });
      },
    } satisfies Events),
    emit: (event) => {
      if (hasEnded) return;
      if (queue.length === 0) setImmediate(flush);
      queue.push(deepFrozen(event));
    },
    flush,
    end: () => {
      hasEnded = true;
      flush();
    },
  };
}

/** One per call of `on` or `onAny`: a listener that was added twice is called twice, and each is removed separately. */
interface Added {
  /** The type of the events that it receives; `undefined` for all. */
  readonly type: PetStoreEvent["type"] | undefined;
  readonly listener: Listener<PetStoreEvent>;
}

const TYPES: Readonly<Record<PetStoreEvent["type"], true>> = {
  key_issued: true,
  key_revoked: true,
  key_rotated: true,
  secret_ended: true,
  plan_changed: true,
  ban_lifted: true,
  rate_limit_exceeded: true,
  key_banned: true,
  pet_created: true,
  deprecated_operation_used: true,
  storage_warning: true,
};

function refuseUnlessFunction(listener: unknown): void {
  if (typeof listener !== "function") throw new TypeError("The listener must be a function.");
}

function isOfType<Type extends PetStoreEvent["type"]>(
  event: PetStoreEvent,
  type: Type,
): event is Extract<PetStoreEvent, { readonly type: Type }> {
  return event.type === type;
}

function notify(listener: Listener<PetStoreEvent>, event: PetStoreEvent): void {
  try {
    Promise.resolve(listener(event)).catch(ignore);
  } catch {
    ignore();
  }
}

/** A listener's failure must not affect a request. */
function ignore(): void {
  // The host's listener has to report its own failures.
}
