/** Collects the bytes of a body, of at most `limit`. */
export interface Bytes {
  /** Adds a chunk; returns false, and adds nothing, when it would exceed the limit. */
  add(chunk: Uint8Array): boolean;
  /** All bytes so far. */
  all(): Uint8Array;
}

/** Chunks of one byte each must not cost an object each. */
const MOST_CHUNKS = 1_024;

export function collectBytes(limit: number): Bytes {
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add: (chunk) => {
      if (length + chunk.length > limit) return false;
      length += chunk.length;
      chunks.push(chunk);
      if (chunks.length > MOST_CHUNKS) chunks = [Buffer.concat(chunks)];
      return true;
    },
    all: () => Buffer.concat(chunks),
  };
}
