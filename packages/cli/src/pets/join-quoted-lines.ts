import { LONGEST_ENTRY, type Entry } from "./entry.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = Buffer.from("\n");

/**
 * Joins the lines of each CSV record (RFC 4180, section 2, rules 5 to 7: a quoted field may hold line
 * breaks, and only a quote at the beginning of a field opens one). A record ends at the latest with a
 * line that has a quote out of place. A quote that no line closes while the record is short enough spoils
 * the line that it opens on and no other.
 */
export async function* joinQuotedLines(
  groups: AsyncIterable<readonly Entry[]>,
  longest = LONGEST_ENTRY,
): AsyncGenerator<readonly Entry[], void> {
  let open: Entry[] = [];
  let length = 0;

  const take = (line: Entry): readonly Entry[] => {
    const staysOpen = endsInQuotes(line, open.length > 0);
    if (open.length === 0 && !staysOpen) return [line];
    const added = (line.bytes?.length ?? longest) + (open.length === 0 ? 0 : LINE_FEED.length);
    // The quote is astray; this line may well open a record of its own.
    if (open.length > 0 && length + added > longest) return [...release(), ...take(line)];
    open.push(line);
    length += added;
    return staysOpen ? [] : [join(release())];
  };
  const release = (): readonly Entry[] => {
    const lines = open;
    open = [];
    length = 0;
    return lines;
  };

  for await (const lines of groups) yield lines.flatMap(take);
  yield release();
}

/** Whether a quoted field goes on after the line, which itself may begin in one. */
function endsInQuotes({ bytes }: Entry, beginsInQuotes: boolean): boolean {
  let inQuotes = beginsInQuotes;
  let at = bytes?.indexOf(QUOTE) ?? -1;
  while (bytes !== undefined && at >= 0) {
    const isDoubled = inQuotes && bytes[at + 1] === QUOTE;
    if (!isDoubled) {
      const isInPlace = inQuotes ? endsField(bytes, at + 1) : beginsField(bytes, at);
      if (!isInPlace) return false;
      inQuotes = !inQuotes;
    }
    at = bytes.indexOf(QUOTE, at + (isDoubled ? 2 : 1));
  }
  return inQuotes;
}

function beginsField(bytes: Buffer, at: number): boolean {
  return at === 0 || bytes[at - 1] === COMMA;
}

/** At a comma, or at the line's end. */
function endsField(bytes: Buffer, at: number): boolean {
  const left = bytes.length - at;
  return bytes[at] === COMMA || left === 0 || (left === 1 && bytes[at] === CARRIAGE_RETURN);
}

function join(lines: readonly Entry[]): Entry {
  const parts = lines.flatMap(({ bytes = Buffer.alloc(0) }, index) =>
    index === 0 ? [bytes] : [LINE_FEED, bytes],
  );
  const first = lines[0]?.first ?? 0;
  return { first, last: lines.at(-1)?.last ?? first, bytes: Buffer.concat(parts) };
}
