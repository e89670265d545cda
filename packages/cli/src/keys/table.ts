/** A column of a table. */
export interface Column<Row> {
  readonly heading: string;
  /** Returns the text of a row at this time. */
  readonly cell: (row: Row, now: number) => string;
  /** The order in which columns are left out of a table that is too wide: the least number first. */
  readonly dropOrder?: number;
  /** Whether long cells are cut, if the table is too wide. */
  readonly shrinks?: true;
}

/** A column with its texts, the heading first. */
interface Filled {
  readonly cells: readonly string[];
  readonly width: number;
  readonly dropOrder: number;
  readonly shrinks: boolean;
}

const GAP = "  ";
/** To how many characters a cell is cut, before a column is left out. */
const SHORT_CELL = 20;
/** The fewest characters of a cut cell. */
const SHORTEST_CELL = 5;

/** Returns a table. With a width, cells are cut, columns left out, and at last all lines cut, until it fits. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  now: number,
  width = Infinity,
): string {
  const all = columns.map(({ heading, cell, dropOrder = Infinity, shrinks = false }) =>
    fill([heading, ...rows.map((row) => cell(row, now))], dropOrder, shrinks),
  );
  const fitted = fit(all, width);
  const lineAt = (index: number): string =>
    fitted.map(({ cells, width }) => pad(cells[index] ?? "", width)).join(GAP);
  const lines = Array.from({ length: rows.length + 1 }, (_, index) => lineAt(index));
  return lines.map((line) => cut(line.trimEnd(), width)).join("\n");
}

function fill(cells: readonly string[], dropOrder: number, shrinks: boolean): Filled {
  const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0);
  return { cells, width, dropOrder, shrinks };
}

function fit(all: readonly Filled[], width: number): readonly Filled[] {
  if (totalOf(all) <= width) return all;
  let kept = shrink(all, SHORT_CELL);
  const leaving = all.map(({ dropOrder }) => dropOrder).filter(Number.isFinite);
  for (const next of leaving.sort((a, b) => a - b)) {
    if (totalOf(kept) <= width) return kept;
    kept = kept.filter(({ dropOrder }) => dropOrder !== next);
  }
  return shrink(kept, Math.max(SHORTEST_CELL, SHORT_CELL - Math.max(0, totalOf(kept) - width)));
}

function shrink(columns: readonly Filled[], most: number): readonly Filled[] {
  return columns.map((column) =>
    column.shrinks && column.width > most
      ? fill(
          column.cells.map((cell) => cut(cell, most)),
          column.dropOrder,
          true,
        )
      : column,
  );
}

function totalOf(columns: readonly Filled[]): number {
  return columns.reduce((total, { width }) => total + width + GAP.length, -GAP.length);
}

function cut(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) >= most) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Returns how many characters of a terminal a text takes. */
function widthOf(text: string): number {
  if (/^[ -~…]*$/.test(text)) return text.length;
  return [...new Intl.Segmenter().segment(text)].reduce(
    (width, { segment }) => width + (WIDE.test(segment) ? 2 : 1),
    0,
  );
}

/** Pictures, and the letters of East Asia in their wide form, take two characters of a terminal (UAX #11, W and F). */
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\u303E\u3041-\u3247\u3250-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}]/u;
