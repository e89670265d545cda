import { writeFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { runCommand } from "@petstore/cli";
import { newDatabase, writableTo } from "../support/command.js";

const ERASE = "\r\u001B[K";
const REX = '{"name":"Rex","categoryId":1}\n';

/** All that a command writes to a terminal, or to something else, when its input is a pet. */
async function shownOn(isTTY: boolean, ...args: readonly string[]): Promise<string> {
  const shown: string[] = [];
  const stderr = writableTo((part, done) => {
    shown.push(part.toString());
    done();
  });
  const print = (line: string) => shown.push(`${line}\n`);
  const terminal = { out: print, error: print, written: () => Promise.resolve(undefined) };
  const streams = { stdin: new PassThrough().end(REX), stdout: new PassThrough() };
  await runCommand(args, terminal, { ...streams, stderr: Object.assign(stderr, { isTTY }) });
  return shown.join("");
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

it.each([
  ["a terminal shows only a count while the size of the input is unknown", true],
  ["a stream that is not a terminal shows no progress", false],
])("%s", async (_, isTTY) => {
  const database = newDatabase();
  const shown = await shownOn(isTTY, "pets", "import", "-", "--database", database);
  const count = isTTY ? `${ERASE}1 pet${ERASE}` : "";
  expect(shown).toBe(`petstore: new database ${database}\n${count}imported 1 pet\n`);
});
