import type { EventEmitter } from "node:events";

/** Emits an event; whether anybody listened. */
export type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/**
 * Puts a function before the listeners of one emitter, and of no other: `outer` is given the
 * emitter's `emit` as it was and decides what reaches it.
 * @returns a function that undoes it. Where somebody else has overridden `emit` since, what was put
 * there stays, and lets everything through.
 */
export function overrideEmit(emitter: EventEmitter, outer: (inner: Emit) => Emit): () => void {
  const target: { emit: Emit } = emitter;
  const own = Object.hasOwn(emitter, "emit");
  const original = target.emit;
  const inner: Emit = (...args) => Reflect.apply(original, emitter, args);
  const override = outer(inner);
  let isActive = true;

  const emit: Emit = (...args) => (isActive ? override(...args) : inner(...args));
  target.emit = emit;

  return () => {
    isActive = false;
    if (target.emit !== emit) return;
    if (own) target.emit = original;
    else Reflect.deleteProperty(emitter, "emit");
  };
}
