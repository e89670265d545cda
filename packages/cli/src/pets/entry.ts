/** What stands for one pet in a file: a line, or several where CSV quotes a line break. */
export interface Entry {
  /** The number of its first line, from 1. */
  readonly first: number;
  /** The number of its last line. */
  readonly last: number;
  /** What stands there, without the line break at its end; `undefined` when it is too long to keep. */
  readonly bytes: Buffer | undefined;
}

/** How long an entry may be, in bytes. */
export const LONGEST_ENTRY = 1_048_576;

/** Whether nothing but white space stands there. */
export function isBlank({ bytes }: Entry): boolean {
  return bytes?.every((byte) => WHITE_SPACE.has(byte)) ?? false;
}

/** On how many lines these stand. */
export function countLines(entries: readonly Entry[]): number {
  return entries.reduce((lines, { first, last }) => lines + last - first + 1, 0);
}

/** Where it stands, in words for a person: `line 2`, `lines 2–4`. */
export function placeOf({ first, last }: Entry): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

const WHITE_SPACE = new Set(Buffer.from(" \t\r"));

/** What is said of an entry that is too long. */
export const TOO_LONG = `It is longer than ${LONGEST_ENTRY / 1_024} KiB.`;
