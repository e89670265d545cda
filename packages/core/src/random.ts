import { randomBytes, randomUUID } from "node:crypto";
import { isUint8Array } from "node:util/types";

/** Returns this many bytes from a cryptographically secure source. */
export type RandomSource = (size: number) => Uint8Array;

export const systemRandom: RandomSource = (size) => randomBytes(size);

/** Returns a new random UUID (RFC 9562, section 5.4): to identify something, not as a secret. */
export const systemUuid = (): string => randomUUID();

/** Returns this source with a check of each result: anything but random bytes would make weak secrets. */
export function checkedRandom(random: RandomSource): RandomSource {
  return (size) => {
    const bytes: unknown = random(size);
    if (isUint8Array(bytes) && bytes.length === size) return bytes;
    throw new TypeError(`The random source must return a Uint8Array of ${size} bytes.`);
  };
}
