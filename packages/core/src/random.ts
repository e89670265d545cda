import { randomBytes } from "node:crypto";

/** Returns this many bytes from a cryptographically secure source. */
export type RandomSource = (size: number) => Uint8Array;

/** The operating system's secure random source. */
export const systemRandom: RandomSource = (size) => randomBytes(size);
