import type { IncomingMessage } from "node:http";
import type { UnreadableMessage } from "../refusal.js";

/** Emitted on a request of ours whose body breaks off. */
const INTERRUPTED = Symbol("petstore: interrupted");

/** Learns why no more of a request's body will come, if that happens. */
export interface Interruption {
  /** Why, once it has happened. */
  reason(): UnreadableMessage | undefined;
  /** Calls back when it happens, at most once, from now on. */
  listen(callback: (reason: UnreadableMessage) => void): void;
}

/** Nothing can be interrupted. */
export const NO_INTERRUPTION: Interruption = Object.freeze({
  reason: () => undefined,
  listen: () => undefined,
});

/** Watches for the interruption of a request that a store answers. */
export function watchInterruption(request: IncomingMessage): Interruption {
  let reason: UnreadableMessage | undefined;
  let told: (reason: UnreadableMessage) => void = () => undefined;
  request.once(INTERRUPTED, (why: UnreadableMessage) => {
    reason = why;
    told(why);
  });
  return { reason: () => reason, listen: (callback) => (told = callback) };
}

/**
 * Tells whoever answers a request, in whichever mount or handler, that its body breaks off.
 * @returns whether it is a store that answers it, and so will answer this.
 */
export function interrupt(request: IncomingMessage, reason: UnreadableMessage): boolean {
  return request.emit(INTERRUPTED, reason);
}
