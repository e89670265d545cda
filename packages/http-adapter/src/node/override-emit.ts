import type { EventEmitter } from "node:events";

/** Emits an event; whether anybody listened. */
export type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** What stands before an emitter's listeners, or before another layer. */
interface Layer {
  readonly emit: Emit;
  /** What it passes on to. */
  below?: Layer;
}

/** All layers of one emitter, behind a single `emit`, so that they can end in any order. */
interface Layers {
  readonly emit: Emit;
  /** The emitter as it was. */
  readonly bottom: Layer;
  top: Layer;
  /** Gives the emitter its own `emit` back, unless somebody else has overridden it since. */
  readonly restore: () => void;
}

const layersOf = new WeakMap<EventEmitter, Layers>();

/**
 * Puts a function before the listeners of one emitter, and of no other: `outer` is given the
 * emitter's `emit` as it was and decides what reaches it.
 * @returns a function that undoes it. Where somebody else has overridden `emit` since, what was put
 * there stays, and lets everything through. Calling it again does nothing.
 */
export function overrideEmit(emitter: EventEmitter, outer: (inner: Emit) => Emit): () => void {
  const layers = openLayers(emitter);
  let isActive = true;
  const inner: Emit = (...args) => layer.below?.emit(...args) ?? false;
  const override = outer(inner);
  const layer: Layer = {
    emit: (...args) => (isActive ? override(...args) : inner(...args)),
    below: layers.top,
  };
  layers.top = layer;

  return () => {
    if (!isActive) return;
    isActive = false;
    remove(layer, layers);
    if (layers.top === layers.bottom) layers.restore();
  };
}

/** The layers of an emitter; new ones where there are none, or somebody else has overridden them. */
function openLayers(emitter: EventEmitter): Layers {
  const target: { emit: Emit } = emitter;
  const known = layersOf.get(emitter);
  if (known?.emit === target.emit) return known;

  const isOwn = Object.hasOwn(emitter, "emit");
  const original = target.emit;
  const bottom: Layer = { emit: (...args) => Reflect.apply(original, emitter, args) };
  const layers: Layers = {
    emit: (...args) => layers.top.emit(...args),
    bottom,
    top: bottom,
    restore: () => {
      if (target.emit !== layers.emit) return;
      layersOf.delete(emitter);
      if (isOwn) target.emit = original;
      else Reflect.deleteProperty(emitter, "emit");
    },
  };
  target.emit = layers.emit;
  layersOf.set(emitter, layers);
  return layers;
}

function remove(layer: Layer, layers: Layers): void {
  const { below = layers.bottom } = layer;
  if (layers.top === layer) {
    layers.top = below;
    return;
  }
  let above = layers.top;
  while (above.below !== undefined && above.below !== layer) above = above.below;
  above.below = below;
}
