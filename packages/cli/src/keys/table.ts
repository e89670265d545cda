/** A column of a table. */
export interface Column<Row, Context> {
  readonly heading: string;
  readonly cell: (row: Row, context: Context) => string;
  /** When the column is left out, if the table is too wide: the least number goes first. */
  readonly goes?: number;
  /** Whether long cells are cut, if the table is too wide. */
  readonly shrinks?: true;
}

/** A column with its texts, the heading first. */
interface Filled {
  readonly cells: readonly string[];
  readonly width: number;
  readonly goes: number;
  readonly shrinks: boolean;
}

const GAP = "  ";
/** To how many characters a cell is cut, before a column is left out. */
const SHORT_CELL = 20;
/** The fewest characters of a cut cell. */
const SHORTEST_CELL = 5;

/** Returns a table. With a width, cells are cut, columns left out, and at last all lines cut, until it fits. */
export function table<Row, Context>(
  columns: readonly Column<Row, Context>[],
  rows: readonly Row[],
  context: Context,
  width = Infinity,
): string {
  const all = columns.map(({ heading, cell, goes = Infinity, shrinks = false }) =>
    fill([heading, ...rows.map((row) => cell(row, context))], goes, shrinks),
  );
  const fitted = fit(all, width);
  return ["", ...rows]
    .map((_, line) => fitted.map(({ cells, width }) => pad(cells[line] ?? "", width)).join(GAP))
    .map((line) => cut(line.trimEnd(), width))
    .join("\n");
}

function fill(cells: readonly string[], goes: number, shrinks: boolean): Filled {
  const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0);
  return { cells, width, goes, shrinks };
}

function fit(all: readonly Filled[], width: number): readonly Filled[] {
  if (totalOf(all) <= width) return all;
  let kept = shrink(all, SHORT_CELL);
  const leaving = all.map(({ goes }) => goes).filter(Number.isFinite);
  for (const next of leaving.sort((a, b) => a - b)) {
    if (totalOf(kept) <= width) return kept;
    kept = kept.filter(({ goes }) => goes !== next);
  }
  return shrink(kept, Math.max(SHORTEST_CELL, SHORT_CELL - Math.max(0, totalOf(kept) - width)));
}

function shrink(columns: readonly Filled[], most: number): readonly Filled[] {
  return columns.map((column) =>
    column.shrinks && column.width > most
      ? fill(
          column.cells.map((cell) => cut(cell, most)),
          column.goes,
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

/** Pictures, and the letters of East Asia, take two characters of a terminal. */
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}\uFF01-\uFF60]/u;
