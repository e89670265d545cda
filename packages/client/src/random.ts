/** Returns this many bytes from a cryptographically secure source. */
export type RandomSource = (size: number) => Uint8Array;

export const systemRandom: RandomSource = (size) => crypto.getRandomValues(new Uint8Array(size));

/** From 0 to just below 1. */
export function drawFraction(random: RandomSource): number {
  return random(4).reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 32;
}

/** 32 hexadecimal digits. */
export function drawIdempotencyKey(random: RandomSource): string {
  return Array.from(random(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
