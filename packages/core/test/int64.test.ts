import { describe, expect, it } from "vitest";
import { INT64_MAX, INT64_MIN, parseInt64 } from "@petstore/core";
import { toInt64 } from "../src/pets/int64.js";

describe("toInt64", () => {
  it.each([INT64_MIN, INT64_MAX, 2n ** 53n + 1n, 0n, -1n])("takes the bigint %s as it is", (id) => {
    expect(toInt64(id)).toBe(id);
  });

  it.each([0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])("takes %s", (number) => {
    expect(toInt64(number)).toBe(BigInt(number));
  });

  it.each([
    INT64_MAX + 1n,
    INT64_MIN - 1n,
    2 ** 53,
    1.5,
    Number.NaN,
    Infinity,
    "1",
    null,
    undefined,
    true,
    {},
  ])("refuses %s", (value) => {
    expect(toInt64(value)).toBeUndefined();
  });
});

describe("parseInt64", () => {
  it.each(["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993"])(
    "parses %s exactly",
    (text) => {
      expect(parseInt64(text)).toBe(BigInt(text));
    },
  );

  it.each([
    "",
    "01",
    "1.0",
    "1e2",
    "+1",
    "-0",
    " 1",
    "1 ",
    "1_0",
    "0x1",
    "٣",
    "9223372036854775808",
    "-9223372036854775809",
    "1".repeat(1_000_000),
  ])("does not take %j for a number", (text) => {
    expect(parseInt64(text)).toBeUndefined();
  });
});
