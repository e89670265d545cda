/** The bytes of a body as they arrive. */
export interface CollectedBytes {
  /** How many there are. */
  readonly length: number;
  /** Copies a chunk to the end. */
  add(chunk: Uint8Array): void;
  /** All of them. */
  bytes(): Uint8Array;
}

const FIRST_CAPACITY = 1_024;

/**
 * Collects bytes in one buffer that doubles: a body that arrives in chunks of one byte costs what it
 * holds, not an object a byte.
 */
export function collectBytes(): CollectedBytes {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add: (chunk) => {
      const needed = length + chunk.length;
      if (needed > buffer.length) {
        const larger = Buffer.alloc(Math.max(needed, 2 * buffer.length, FIRST_CAPACITY));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = needed;
    },
    bytes: () => buffer.subarray(0, length),
  };
}
