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

/** Several numbers a row, eight bytes each: in an object, each would take up to 24. */
export interface NumberColumns {
  /** What was last set there, or 0. */
  get(row: number, column: number): number;
  set(row: number, column: number, value: number): void;
  /** What `setTime` last set there. */
  getTime(row: number, column: number): number | undefined;
  setTime(row: number, column: number, value: number | undefined): void;
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

/** So many columns of numbers. */
export function createNumberColumns(width: number): NumberColumns {
  const chunks: Float64Array[] = [];
  const get = (row: number, column: number): number =>
    chunks[row >>> CHUNK_BITS]?.[(row & IN_CHUNK) * width + column] ?? 0;
  const set = (row: number, column: number, value: number): void => {
    const chunk = (chunks[row >>> CHUNK_BITS] ??= new Float64Array(CHUNK * width));
    chunk[(row & IN_CHUNK) * width + column] = value;
  };
  return {
    get,
    set,
    getTime: (row, column) => {
      const value = get(row, column);
      return Number.isNaN(value) ? undefined : value;
    },
    setTime: (row, column, value) => {
      set(row, column, value ?? NaN);
    },
  };
}
