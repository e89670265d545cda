import { alsoThere, counted } from "../terminal.js";

/** What an import has done so far. */
export interface Tally {
  pets: number;
  /** Lines that an earlier import had added. */
  linesThere: number;
  /** Those of them that may be forgotten. */
  linesExpired: number;
  /** Everything before this line is done. */
  nextLine: number;
  /** The last line whose pet may have been added after all. */
  unsureLine?: number | undefined;
  /** Whether the file ends in a record without a line break. */
  isOpenEnded?: boolean;
  /** Whether the database has lost pets of this import. */
  isLost?: boolean;
}

export function describe({ pets, linesThere, linesExpired }: Tally): string {
  const imported = `imported ${counted(pets, "pet")}${alsoThere(linesThere, "line")}`;
  if (linesExpired === 0) return imported;
  return `${imported}; ${counted(linesExpired, "line")} of these ${EXPIRED}`;
}

const EXPIRED =
  "for over 24 hours: they may be forgotten at any time, and a repeated import would then add them again";

export function describeStop(
  reason: string,
  { nextLine, unsureLine }: Tally,
  fromLine: number,
): string {
  const stopped = `the import stopped: ${reason.replace(/\.$/, "")}.`;
  if (unsureLine !== undefined)
    return `${stopped} The pets of lines ${nextLine} to ${unsureLine} may have been added: find the last one that was, and resume at the line after it with --from-line.`;
  if (nextLine === fromLine) return stopped;
  return `${stopped} Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
}

export function describeLoss(again: boolean): string {
  return `the database crashed, failed over or was restored, and has lost pets that it had acknowledged${again ? "" : ": repeat the command, which adds them"}`;
}
