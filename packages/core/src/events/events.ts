import { setImmediate } from "node:timers";
import { inspect } from "node:util";
import type { ApiKey } from "../keys/api-key.js";
import type { WindowName } from "../limits/windows.js";
import type { DeprecatedOperation } from "../operations.js";
import type { Pet } from "../pets/pet.js";
import type { StorageWarning } from "../storage/storage.js";

type KeyFields = {
  readonly keyId: string;
  /** The key as it is after the event. */
  readonly key: ApiKey;
};

/** The fields besides type and time. `keyId`: of the API key concerned, or whose request caused the event. */
type EventFields = {
  readonly key_issued: KeyFields;
  /** Revoking a key again emits nothing. */
  readonly key_revoked: KeyFields;
  readonly key_rotated: KeyFields;
  readonly secret_ended: KeyFields;
  /** Another plan, or other limits. */
  readonly plan_changed: KeyFields;
  /** By the host. A ban that ends by itself emits nothing. */
  readonly ban_lifted: KeyFields;
  /** A request was refused because a limit was used up. */
  readonly rate_limit_exceeded: {
    readonly keyId: string | undefined;
    /** The client address of a request without a valid key, as passed to `store.as`. */
    readonly clientAddress: string | undefined;
    readonly window: WindowName;
    readonly limit: number;
  };
  /** For ignoring refusals. Requests refused during the ban emit nothing. */
  readonly key_banned: {
    readonly keyId: string;
    /** When the key is served again, in milliseconds since the Unix epoch. */
    readonly until: number;
  };
  readonly pet_created: { readonly keyId: string | undefined; readonly pet: Pet };
  readonly deprecated_operation_used: {
    readonly keyId: string | undefined;
    readonly operation: DeprecatedOperation;
  };
  readonly storage_warning: StorageWarning & { readonly keyId: undefined };
};

type EventWithoutTime = {
  [Type in keyof EventFields]: { readonly type: Type } & EventFields[Type];
}[keyof EventFields];

/** Every event of a store: closed on `type`. `at` is when it happened, in milliseconds since the Unix epoch. */
export type PetStoreEvent = EventWithoutTime & { readonly at: number };

export type KeyEventType = Extract<PetStoreEvent, KeyFields>["type"];

type EventOf<Type> = Extract<PetStoreEvent, { readonly type: Type }>;

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
  on<Type extends PetStoreEvent["type"]>(type: Type, listener: Listener<EventOf<Type>>): () => void;
  /**
   * Adds a listener for every event. Returns a function that removes it.
   * @throws TypeError when the listener is not a function.
   */
  onAny(listener: Listener<PetStoreEvent>): () => void;
}

/** Emits an event that has happened at this time; now, by default. */
export type Emit = (event: EventWithoutTime, at?: number) => void;

/** `flush` passes queued events to the listeners at once. `end` does so, too, and later events are ignored. */
export function createEvents(now: () => number) {
  const listeners = new Set<Listener<PetStoreEvent>>();
  const queue: PetStoreEvent[] = [];
  let hasEnded = false;

  const flush = (): void => {
    for (const event of queue.splice(0)) [...listeners].forEach((each) => each(event));
  };
  const emit: Emit = (event, at) => {
    // A get whose event is made for no listener takes 1.2 times as long.
    if (hasEnded || listeners.size === 0) return;
    if (queue.length === 0) setImmediate(flush);
    queue.push(deepFrozen({ ...event, at: at ?? now() }));
  };
  /** A listener that was added twice is called twice, and each is removed separately. */
  const add = (listener: unknown, call: Listener<PetStoreEvent>) => {
    if (typeof listener !== "function") throw new TypeError("The listener must be a function.");
    const added = contained(call);
    listeners.add(added);
    return () => void listeners.delete(added);
  };
  const events: Events = Object.freeze({
    onAny: (listener) => add(listener, (event) => listener(event)),
    on: (type, listener) => {
      if (!Object.hasOwn(TYPES, type)) throw new TypeError(`No event is called ${inspect(type)}.`);
      const isFor = (event: PetStoreEvent): event is EventOf<typeof type> => event.type === type;
      return add(listener, (event) => isFor(event) && listener(event));
    },
  } satisfies Events);
  const end = (): void => {
    hasEnded = true;
    flush();
  };
  return { events, emit, flush, end };
}

/** Wraps a host's listener, so that what it throws, or rejects with, goes to `onError`: no request fails because of it. */
export function contained<Value>(
  listener: ((value: Value) => unknown) | undefined,
  onError: (cause: unknown) => void = () => undefined,
): (value: Value) => void {
  return (value) => void new Promise((resolve) => resolve(listener?.(value))).catch(onError);
}

/** Freezes plain objects and arrays, with all that they hold, and returns the value. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && !Array.isArray(value)) return value;
  Object.freeze(value);
  Object.values(value).forEach(deepFrozen);
  return value;
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
