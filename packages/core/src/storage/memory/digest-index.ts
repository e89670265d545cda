/** Finds the row of a digest. */
export interface DigestIndex {
  /** The row added under this digest, or `undefined`. */
  find(digest: string): number | undefined;
  /** Adds a row under a digest that is new, once `digestOf` answers it for that row. */
  add(row: number, digest: string): void;
  /** Removes the row added under this digest, while `digestOf` still answers it. */
  remove(digest: string): void;
}

/** As many tables as the highest bits of a hash can tell: each grows by itself, so that none takes long. */
const TABLE_BITS = 8;
const SMALLEST = 16;
const EMPTY = -1;

/** Rows by their digest. The digests themselves stay where `digestOf` finds them. */
export function createDigestIndex(digestOf: (row: number) => string): DigestIndex {
  const tables: (Table | undefined)[] = [];
  const tableOf = (hash: number): Table =>
    (tables[hash >>> (32 - TABLE_BITS)] ??= createTable(digestOf));
  return {
    find: (digest) => {
      const hash = hashOf(digest);
      return tableOf(hash).find(digest, hash);
    },
    add: (row, digest) => {
      const hash = hashOf(digest);
      tableOf(hash).add(row, digest, hash);
    },
    remove: (digest) => {
      const hash = hashOf(digest);
      tableOf(hash).remove(digest, hash);
    },
  };
}

interface Table {
  find(digest: string, hash: number): number | undefined;
  add(row: number, digest: string, hash: number): void;
  remove(digest: string, hash: number): void;
}

/** A hash table of row numbers with linear probing, at most three quarters full. */
function createTable(digestOf: (row: number) => string): Table {
  let slots = new Int32Array(SMALLEST).fill(EMPTY);
  let used = 0;

  const rowIn = (slot: number): number => slots[slot] ?? EMPTY;
  const next = (slot: number): number => (slot + 1) & (slots.length - 1);

  /** The slot that holds this digest, or the empty one where it would be looked for last. */
  const slotOf = (digest: string, hash: number): number => {
    let slot = hash & (slots.length - 1);
    while (rowIn(slot) !== EMPTY && digestOf(rowIn(slot)) !== digest) slot = next(slot);
    return slot;
  };
  const place = (row: number): void => {
    const digest = digestOf(row);
    slots[slotOf(digest, hashOf(digest))] = row;
  };
  const grow = (): void => {
    const rows = slots.filter((row) => row !== EMPTY);
    slots = new Int32Array(slots.length * 2).fill(EMPTY);
    rows.forEach(place);
  };

  return {
    find: (digest, hash) => {
      const row = rowIn(slotOf(digest, hash));
      return row === EMPTY ? undefined : row;
    },
    add: (row, digest, hash) => {
      if ((used + 1) * 4 > slots.length * 3) grow();
      slots[slotOf(digest, hash)] = row;
      used += 1;
    },
    remove: (digest, hash) => {
      let slot = slotOf(digest, hash);
      if (rowIn(slot) === EMPTY) return;
      slots[slot] = EMPTY;
      used -= 1;
      // A row further on may have been pushed there past the gap: placed anew, it is found again.
      for (slot = next(slot); rowIn(slot) !== EMPTY; slot = next(slot)) {
        const row = rowIn(slot);
        slots[slot] = EMPTY;
        place(row);
      }
    },
  };
}

/** FNV-1a over the last 8 UTF-16 code units: those of a SHA-256 are as random as all of it. */
function hashOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = Math.max(0, text.length - 8); at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return sum >>> 0;
}
