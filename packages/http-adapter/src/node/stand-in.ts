import type { EventEmitter } from "node:events";

/**
 * Node asks how to meet an expectation, or to connect, only where somebody listens: so a mount has
 * this stand there. It has nothing to do, since the mount's `emit` has seen to the request.
 */
function standIn(): void {
  // See above.
}

/** Whether no listener of the host's is there for an event. */
export function isUnheard(server: EventEmitter, event: string): boolean {
  return server.listeners(event).every((listener) => listener === standIn);
}

/**
 * Stands in for a host's listeners of these events.
 * @returns a function that ends it and then undoes the rest. Calling it again does nothing.
 */
export function standInFor(
  server: EventEmitter,
  events: readonly string[],
  undoRest: () => void,
): () => void {
  for (const event of events) server.on(event, standIn);
  let isActive = true;
  return () => {
    if (!isActive) return;
    isActive = false;
    for (const event of events) server.off(event, standIn);
    undoRest();
  };
}
