import type { PetStoreEvent } from "./event.js";

/** Receives events. What it throws, and a promise that it returns, are not waited for or looked at. */
export type Listener<Event> = (event: Event) => unknown;

/**
 * Tells the host what happens in this process, in the order in which it happened, after the answer of
 * the call that caused it is known. Telling is free when nobody listens, and never touches a request:
 * a listener that throws, rejects or never settles is left behind. When the store's `close` has resolved,
 * all is told.
 */
export interface Events {
  /** Listens to one type of event. Returns a function that ends it. */
  on<Type extends PetStoreEvent["type"]>(
    type: Type,
    listener: Listener<Extract<PetStoreEvent, { readonly type: Type }>>,
  ): () => void;
  /** Listens to every event. Returns a function that ends it. */
  onAny(listener: Listener<PetStoreEvent>): () => void;
}

/** The store's end: tells an event, which is only made when somebody listens. */
export type Tell = (event: () => PetStoreEvent) => void;

/** Both ends of a store's events, and a way to deliver at once what was told and waits. */
export function createEvents(): {
  readonly events: Events;
  readonly tell: Tell;
  readonly deliver: () => void;
} {
  const listeners = new Set<Listener<PetStoreEvent>>();
  const waiting: PetStoreEvent[] = [];

  const deliver = (): void => {
    for (const event of waiting.splice(0)) {
      for (const listener of [...listeners]) notify(listener, event);
    }
  };
  const onAny = (listener: Listener<PetStoreEvent>): (() => void) => {
    const own: Listener<PetStoreEvent> = (event) => listener(event);
    listeners.add(own);
    return () => listeners.delete(own);
  };

  return {
    events: Object.freeze({
      onAny,
      on: (type, listener) =>
        onAny((event) => (isOfType(event, type) ? listener(event) : undefined)),
    } satisfies Events),
    tell: (event) => {
      if (listeners.size === 0) return;
      if (waiting.length === 0) setImmediate(deliver);
      waiting.push(event());
    },
    deliver,
  };
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
    // A host callback that throws never takes a request down.
  }
}

function ignore(): void {
  // Nor does one that rejects.
}
