import { randomBytes } from "node:crypto";

/** Returns this many bytes from a cryptographically secure source. */
export type RandomSource = (size: number) => Uint8Array;

/** The operating system's secure random source. */
export const systemRandom: RandomSource = (size) => randomBytes(size);

/** A source that falls back on the system's when it throws or gives another number of bytes. */
export function dependableRandom(random: RandomSource): RandomSource {
  return (size) => {
    try {
      const bytes = random(size);
      return bytes.length === size ? bytes : systemRandom(size);
    } catch {
      return systemRandom(size);
    }
  };
}
