import { writeFileSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { expect, it } from "vitest";
import { runCommand } from "@petstore/cli";
import { newDatabase } from "../support/command.js";

const ERASE = "\r\u001B[K";
const REX = '{"name":"Rex","categoryId":1}\n';

/** All that a command writes to a terminal, or to something else. */
async function shownOn(isTTY: boolean, ...args: readonly string[]): Promise<string> {
  let text = "";
  const stderr = new Writable({
    write: (part: Buffer, _encoding, done) => {
      text += part.toString("utf8");
      done();
    },
  });
  const print = (line: string): void => {
    text += `${line}\n`;
  };
  const terminal = { out: print, error: print, written: () => Promise.resolve(undefined) };
  const stdin = new PassThrough().end(REX);
  const streams = {
    stdin,
    stdout: new PassThrough(),
    stderr: Object.assign(stderr, { isTTY }),
  };
  await runCommand(args, terminal, streams);
  return text;
}

it("a terminal shows a bar that is erased for every other line", async () => {
  const database = newDatabase();
  const file = `${database}.ndjson`;
  writeFileSync(file, `${REX.repeat(3_000)}bad\n${REX.repeat(500)}`);
  const full = `${"█".repeat(30)} 100.0 %`;
  expect(await shownOn(true, "pets", "import", file, "--database", database)).toBe(
    [
      `petstore: new database ${database}\n`,
      `${ERASE}${"█".repeat(19)}${"░".repeat(11)}  62.4 % 2,184 pets`,
      `${ERASE}line 3001: It is not JSON in UTF-8.\n`,
      `${ERASE}${full} 3,500 pets`,
      `${ERASE}imported 3,500 pets\npetstore: 1 line could not be imported\n`,
    ].join(""),
  );
  const exported = await shownOn(true, "pets", "export", `${file}.copy`, "--database", database);
  expect(exported.split(ERASE).slice(1, 3)).toEqual(["100 pets", "200 pets"]);
  expect(exported.endsWith(`3,500 pets${ERASE}exported 3,500 pets\n`)).toBe(true);
});

it("a terminal shows only a count while the size of the input is unknown", async () => {
  const database = newDatabase();
  const shown = await shownOn(true, "pets", "import", "-", "--database", database);
  expect(shown).toBe(`petstore: new database ${database}\n${ERASE}1 pet${ERASE}imported 1 pet\n`);
});

it("a stream that is not a terminal shows no progress", async () => {
  const database = newDatabase();
  const shown = await shownOn(false, "pets", "import", "-", "--database", database);
  expect(shown).toBe(`petstore: new database ${database}\nimported 1 pet\n`);
});
