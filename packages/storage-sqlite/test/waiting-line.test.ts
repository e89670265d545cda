import { describe, expect, it } from "vitest";
import { createWaitingLine } from "../src/waiting-line.js";

describe("a waiting line", () => {
  it("keeps the order of arrival", () => {
    const line = createWaitingLine<string>(10);
    for (const each of ["a", "b", "c"]) line.add(each);
    expect(line.first(2)).toEqual(["a", "b"]);
    line.drop(2);
    expect(line.first(2)).toEqual(["c"]);
    line.drop(1);
    expect(line.isEmpty()).toBe(true);
  });

  it("gives up each thing when it has waited for as long as the line is patient", () => {
    const line = createWaitingLine<string>(10);
    line.add("a");
    line.pass(6);
    line.add("b");
    line.pass(3);
    expect(line.takeExpired()).toEqual([]);
    line.pass(1);
    expect(line.takeExpired()).toEqual(["a"]);
    line.pass(6);
    expect(line.takeExpired()).toEqual(["b"]);
    expect(line.isEmpty()).toBe(true);
  });
});
