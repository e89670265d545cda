import { LONGEST_ENTRY, type Entry } from "./entry.js";

const QUOTE = 0x22;
const LINE_FEED = Buffer.from("\n");

/**
 * Joins the lines of each CSV record (RFC 4180, section 2, rule 6: a quoted field may hold line
 * breaks). A quote that no line closes while the record is short enough spoils the line that it opens
 * on and no other.
 */
export async function* joinQuotedLines(
  groups: AsyncIterable<readonly Entry[]>,
  longest = LONGEST_ENTRY,
): AsyncGenerator<readonly Entry[], void> {
  let open: Entry[] = [];
  let length = 0;

  const take = (line: Entry): readonly Entry[] => {
    const turns = hasOddQuotes(line);
    if (open.length === 0 && !turns) return [line];
    const added = (line.bytes?.length ?? longest) + (open.length === 0 ? 0 : LINE_FEED.length);
    // The quote is astray; this line may well open a record of its own.
    if (open.length > 0 && length + added > longest) return [...release(), ...take(line)];
    open.push(line);
    length += added;
    return turns && open.length > 1 ? [join(release())] : [];
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

function hasOddQuotes({ bytes }: Entry): boolean {
  let odd = false;
  let at = bytes?.indexOf(QUOTE) ?? -1;
  while (bytes !== undefined && at >= 0) {
    odd = !odd;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return odd;
}

function join(lines: readonly Entry[]): Entry {
  const parts = lines.flatMap(({ bytes = Buffer.alloc(0) }, index) =>
    index === 0 ? [bytes] : [LINE_FEED, bytes],
  );
  const first = lines[0]?.first ?? 0;
  return { first, last: lines.at(-1)?.last ?? first, bytes: Buffer.concat(parts) };
}
