/** Rows are allocated 256 together: few enough to spare little, many enough to cost little each. */
const CHUNK_BITS = 8;
const CHUNK = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK - 1;

/** One field of many rows. */
export interface Column<T> {
  /** What was last set in this row, or the initial value. */
  get(row: number): T;
  set(row: number, value: T): void;
}

/** Rows of numbers, eight bytes each: in an object, each would take up to 24. */
export interface NumberRows {
  /** A number of a row; 0 where none was written. */
  get(row: number, column: number): number;
  /** The numbers of this row and its neighbours, to read several; none while none was written. */
  chunk(row: number): Readonly<ArrayLike<number>>;
  /** The same to write; 0 where nothing was written. */
  writable(row: number): Float64Array;
  /** Where in its chunk this row begins. */
  offset(row: number): number;
}

/** A column of values of any kind. */
export function createColumn<T>(initial: T): Column<T> {
  const chunks: T[][] = [];
  return {
    get: (row) => chunks[row >>> CHUNK_BITS]?.[row & IN_CHUNK] ?? initial,
    set: (row, value) => {
      const chunk = (chunks[row >>> CHUNK_BITS] ??= new Array<T>(CHUNK).fill(initial));
      chunk[row & IN_CHUNK] = value;
    },
  };
}

const NOTHING = new Float64Array(0);

/** Rows of so many numbers. */
export function createNumberRows(width: number): NumberRows {
  const chunks: Float64Array[] = [];
  const chunk = (row: number): Float64Array => chunks[row >>> CHUNK_BITS] ?? NOTHING;
  const offset = (row: number): number => (row & IN_CHUNK) * width;
  return {
    get: (row, column) => chunk(row)[offset(row) + column] ?? 0,
    chunk,
    writable: (row) => (chunks[row >>> CHUNK_BITS] ??= new Float64Array(CHUNK * width)),
    offset,
  };
}

/** A time as one of the numbers of a row. */
export function fromTime(time: number | undefined): number {
  return time ?? NaN;
}

/** The time that a number of a row stands for. */
export function toTime(number: number | undefined): number | undefined {
  return Number.isNaN(number) ? undefined : number;
}
