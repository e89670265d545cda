import { describe, expect, it } from "vitest";
import { createColumn, createNumberRows } from "../src/storage/memory/columns.js";

const ROWS = [0, 1, 255, 256, 257, 1_000];

describe("a row", () => {
  it("of a column is as it was set, or initial, whatever its neighbours are", () => {
    const column = createColumn("initial");
    for (const row of ROWS) expect(column.get(row)).toBe("initial");
    for (const row of ROWS) column.set(row, `row ${String(row)}`);
    for (const row of ROWS) expect(column.get(row)).toBe(`row ${String(row)}`);
    for (const row of [2, 254, 258, 2_000]) expect(column.get(row)).toBe("initial");
  });

  it("of numbers is as it was written, or 0, whatever its neighbours are", () => {
    const rows = createNumberRows(3);
    const read = (row: number) => [0, 1, 2].map((column) => rows.get(row, column));
    for (const row of ROWS) expect(read(row)).toEqual([0, 0, 0]);
    for (const row of ROWS) rows.writable(row).set([row, row + 1, 7], rows.offset(row));
    for (const row of ROWS) expect(read(row)).toEqual([row, row + 1, 7]);
    for (const row of [2, 254, 258, 2_000]) expect(read(row)).toEqual([0, 0, 0]);
  });
});
