import { alsoThere, counted } from "../terminal.js";

export interface Tally {
  pets: number;
  /** Lines that an earlier import had added. */
  linesThere: number;
  /** The lines among them that were added so long ago that they may be forgotten. */
  linesExpired: number;
  /** Everything before this line is done. */
  nextLine: number;
  /** The last line whose pet may have been added after all. */
  unsureLine?: number | undefined;
  /** Whether the file ends in a record without a line break. */
  isOpenEnded?: boolean;
  /** Why the database may lack pets of this import that it has acknowledged. */
  loss?: string;
}

/** How long a line is known that was imported. */
export const KNOWN_HOURS = 24;

export function describe({ pets, linesThere, linesExpired }: Tally): string {
  const imported = `imported ${counted(pets, "pet")}${alsoThere(linesThere, "line")}`;
  if (linesExpired === 0) return imported;
  return `${imported}; ${counted(linesExpired, "line")} of these for over ${KNOWN_HOURS} hours: they may be forgotten at any time, and a repeated import would then add them again`;
}

export function describeStop(reason: string, tally: Tally, fromLine: number): string {
  const { nextLine, unsureLine } = tally;
  const stopped = `the import stopped: ${reason.replace(/\.$/, "")}.`;
  if (unsureLine !== undefined)
    return `${stopped} The pets of lines ${nextLine} to ${unsureLine} may have been added: find the last one that was, and resume at the line after it with --from-line.`;
  if (nextLine === fromLine) return stopped;
  return `${stopped} Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
}
