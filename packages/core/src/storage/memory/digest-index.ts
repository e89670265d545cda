/** Finds the row of a digest. */
export interface DigestIndex {
  /** The row added under this digest, or `undefined`. */
  find(digest: string): number | undefined;
  /** Adds a row under a digest that is new, once `digestOf` answers it for that row. */
  add(row: number, digest: string): void;
  /** Removes the row added under this digest, while `digestOf` still answers it. */
  remove(digest: string): void;
}

const EMPTY = -1;
const SMALLEST = 64;

/**
 * Rows by their digest: a hash table of row numbers with linear probing, at most three quarters full.
 * The digests themselves stay where `digestOf` finds them.
 */
export function createDigestIndex(digestOf: (row: number) => string): DigestIndex {
  let slots = new Int32Array(SMALLEST).fill(EMPTY);
  let used = 0;

  const rowIn = (slot: number): number => slots[slot] ?? EMPTY;
  const next = (slot: number): number => (slot + 1) & (slots.length - 1);

  /** The slot that holds this digest, or the empty one where it would be looked for last. */
  const slotOf = (digest: string): number => {
    let slot = hash(digest) & (slots.length - 1);
    while (rowIn(slot) !== EMPTY && digestOf(rowIn(slot)) !== digest) slot = next(slot);
    return slot;
  };
  const place = (row: number, digest: string): void => {
    slots[slotOf(digest)] = row;
  };
  const grow = (): void => {
    const rows = slots.filter((row) => row !== EMPTY);
    slots = new Int32Array(slots.length * 2).fill(EMPTY);
    for (const row of rows) place(row, digestOf(row));
  };

  return {
    find: (digest) => {
      const row = rowIn(slotOf(digest));
      return row === EMPTY ? undefined : row;
    },
    add: (row, digest) => {
      if ((used + 1) * 4 > slots.length * 3) grow();
      place(row, digest);
      used += 1;
    },
    remove: (digest) => {
      let slot = slotOf(digest);
      if (rowIn(slot) === EMPTY) return;
      slots[slot] = EMPTY;
      used -= 1;
      // A row further on may have been pushed there past the gap: placed anew, it is found again.
      for (slot = next(slot); rowIn(slot) !== EMPTY; slot = next(slot)) {
        const row = rowIn(slot);
        slots[slot] = EMPTY;
        place(row, digestOf(row));
      }
    },
  };
}

/** FNV-1a over the last 16 UTF-16 code units: those of a digest are as random as all of it. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = Math.max(0, text.length - 16); at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return sum >>> 0;
}
