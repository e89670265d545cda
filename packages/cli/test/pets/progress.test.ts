import { writeFileSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCommand } from "@petstore/cli";
import { createProgress } from "../../src/pets/progress.js";
import { newDatabase } from "../support/command.js";

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

describe("the progress of a command", () => {
  const WIPE = "\r\u001B[K";

  /** What such a command draws and says on a terminal. */
  async function seenOf(...args: readonly string[]): Promise<string> {
    const seen = terminal(true);
    const say = (line: string): void => {
      seen.text += `${line}\n`;
    };
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: seen.stream };
    const written = () => Promise.resolve(undefined);
    await runCommand(args, { out: say, error: say, written }, streams);
    return seen.text;
  }

  it("counts the pets, and makes room for every line", async () => {
    const database = newDatabase();
    const file = `${database}.ndjson`;
    const rex = '{"name":"Rex","categoryId":1}\n';
    writeFileSync(file, `${rex.repeat(100)}bad\n${rex.repeat(50)}`);
    const imported = ["pets", "import", file, "--no-rejects", "--batch", "100"];
    const bar = `${"█".repeat(30)} 100.0 %`;
    expect(await seenOf(...imported, "--database", database)).toBe(
      [
        `${WIPE}${bar} 100 pets`,
        `${WIPE}line 101: It is not JSON in UTF-8.\n`,
        `${WIPE}${bar} 150 pets`,
        `${WIPE}imported 150 pets\npetstore: 1 line could not be imported\n`,
      ].join(""),
    );
    expect(await seenOf("pets", "export", `${file}.again`, "--database", database)).toBe(
      `${WIPE}100 pets${WIPE}150 pets${WIPE}exported 150 pets\n`,
    );
  });
});
