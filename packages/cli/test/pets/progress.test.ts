import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createProgress } from "../../src/pets/progress.js";

function terminal(isTTY: boolean): {
  readonly stream: Writable & { isTTY: boolean };
  text: string;
} {
  const seen = { text: "" };
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      seen.text += part.toString("utf8");
      done();
    },
  });
  return Object.assign(seen, { stream: Object.assign(stream, { isTTY }) });
}

describe("progress", () => {
  it("draws a bar over itself, and wipes it", () => {
    const seen = terminal(true);
    const progress = createProgress(seen.stream);
    progress.show(0.5, "5 pets");
    progress.show(0.5, "5 pets");
    progress.clear();
    progress.clear();
    const bar = `${"█".repeat(15)}${"░".repeat(15)}`;
    expect(seen.text).toBe(`\r\u001B[K${bar}  50.0 % 5 pets\r\u001B[K`);
  });

  it("draws only the words when nobody knows how much there is", () => {
    const seen = terminal(true);
    createProgress(seen.stream).show(undefined, "5 pets");
    expect(seen.text).toBe("\r\u001B[K5 pets");
  });

  it("draws nothing where there is no terminal", () => {
    const seen = terminal(false);
    const progress = createProgress(seen.stream);
    progress.show(0.5, "5 pets");
    progress.clear();
    expect(seen.text).toBe("");
  });
});
