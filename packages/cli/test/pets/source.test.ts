import { appendFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findSource } from "../../src/pets/source.js";
import { newDatabase } from "../support/command.js";

/** How far a source says to be before it is read, and after. */
async function progressOf(path: string): Promise<readonly (number | undefined)[]> {
  const source = (await findSource(path, process.stdin))._unsafeUnwrap();
  if (source.path !== undefined) appendFileSync(path, "more");
  const before = source.progress();
  let length = 0;
  for await (const chunk of source.read(new AbortController().signal)) length += chunk.length;
  expect(length).toBeGreaterThan(4);
  return [before, source.progress()];
}

describe("the progress of what is read", () => {
  it("ends at 1, also when a file has grown since", async () => {
    const file = newDatabase();
    writeFileSync(file, "pets");
    expect(await progressOf(file)).toEqual([undefined, 1]);
  });

  it.skipIf(process.platform !== "linux")("is not known where there is no size", async () => {
    expect(await progressOf("/proc/self/status")).toEqual([undefined, undefined]);
  });
});
