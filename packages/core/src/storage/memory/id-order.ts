import { firstIndexWhere } from "./bisect.js";

/** Rows in ascending order of their ids. */
export interface IdOrder {
  /** How many rows there are. */
  readonly length: number;
  /** Adds a row whose id is new, once `idOf` answers it for that row. */
  add(row: number): void;
  /** The row with this id, or `undefined`. */
  find(id: string): number | undefined;
  /** The rows whose id sorts after this one; all of them when it is left out. */
  after(id: string | undefined): Iterable<number>;
}

/** No rows yet. The ids themselves stay where `idOf` finds them. */
export function createIdOrder(idOf: (row: number) => string): IdOrder {
  const rows: number[] = [];
  const firstWhere = (holds: (id: string) => boolean): number =>
    firstIndexWhere(rows.length, (index) => holds(idOf(rows[index] ?? 0)));

  return {
    get length() {
      return rows.length;
    },
    add: (row) => {
      const added = idOf(row);
      // Ids ascend with time, so this is nearly always the end.
      const index = firstWhere((id) => id > added);
      rows.splice(index, 0, row);
    },
    find: (id) => {
      const row = rows[firstWhere((each) => each >= id)];
      return row !== undefined && idOf(row) === id ? row : undefined;
    },
    after: (id) => rowsFrom(rows, id === undefined ? 0 : firstWhere((each) => each > id)),
  };
}

/** The rows from an index on, without copying them. */
function* rowsFrom(rows: readonly number[], start: number): Generator<number> {
  for (let index = start; index < rows.length; index += 1) yield rows[index] ?? 0;
}
