import { expect, it } from "vitest";
import { INT64_MAX, INT64_MIN, parseInt64 } from "@petstore/core";

it.each([0n, 1n, -1n, INT64_MAX, INT64_MIN, 2n ** 53n + 1n])("parses %s exactly", (number) => {
  expect(parseInt64(String(number))).toBe(number);
});

it.each([
  ...["", "01", "1.0", "1e2", "+1", "-0", " 1", "1 ", "1_0", "0x1", "٣", "1".repeat(1_000_000)],
  ...[String(INT64_MAX + 1n), String(INT64_MIN - 1n)],
])("does not take %j for a number", (text) => {
  expect(parseInt64(text)).toBeUndefined();
});
