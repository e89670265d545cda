import { renameSync } from "node:fs";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { hurried, useBuiltPetstore } from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petstore, petstoreOn } from "./support/command.js";
import { openBeside } from "./support/open-beside.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";

const program = useBuiltPetstore();

const OPENS = "\u001B[?1049h\u001B[?25l";
const CLOSES = "\u001B[?25h\u001B[?1049l";

/** Watches the keys of a database on a terminal, which is soon read again. */
function watch(database: string) {
  const node = [process.execPath, ...hurried(20)].map((word) => `'${word.replaceAll("\n", " ")}'`);
  const command = [...node, program(), "keys", "list", "--watch", "--database", database];
  return runOnTerminal(command.join(" "), 100, 24);
}

describe("keys list --watch", () => {
  it("shows the keys by use, again and again, and after Ctrl-C what it has shown last", async () => {
    const database = newDatabase();
    const quiet = await issueUnlimitedKey(database);
    const busy = await issueUnlimitedKey(database);
    const store = await openBeside(database);
    const { screen, output, type, ended } = watch(database);
    await expect.poll(screen).toMatch(/^\d\d:\d\d:\d\d UTC {2}2 keys\r\n\r\nID .* STATE\r\n/);
    expect(output().startsWith(OPENS)).toBe(true);
    expect(screen().match(/ 0\/1000000000 /g)).toHaveLength(2);
    for (const secret of [quiet, busy, busy]) await store.as(secret).listPets();
    await expect.poll(screen).toMatch(/ 2\/1000000000 [^]* 1\/1000000000 /);
    expect(output().split(OPENS)).toHaveLength(2);
    expect(output()).not.toContain(CLOSES);
    type("\u0003");
    expect(await ended).toBe(0);
    const [, after = ""] = output().split(CLOSES);
    expect(after).toMatch(/^(\^C)?ID .* STATE\r\n.* 2\/1000000000 .*\r\n.* 1\/1000000000 .*\r\n$/);
  });

  it("goes on when the database is away for a while, and ends with SIGTERM", async () => {
    const database = newDatabase();
    await issueUnlimitedKey(database);
    const { screen, output, kill, ended } = watch(database);
    await expect.poll(screen).toContain("1 key");
    renameSync(database, `${database}.away`);
    await expect.poll(screen).toContain("was removed or replaced");
    kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output()).toContain(CLOSES);
  });

  it("fits a screen of few columns and rows", async () => {
    const database = newDatabase();
    const store = await openBeside(database);
    const label = "長い名前🐈".repeat(9);
    for (let count = 0; count < 20; count += 1) {
      const { secret } = (await store.keys.issue({ plan: "free", label }))._unsafeUnwrap();
      if (count !== 7) continue;
      for (let calls = 0; calls < 200; calls += 1) await store.as(secret).listPets();
    }
    for (const [columns, heading, busiest] of [
      [80, /^ID +LABEL +PLAN +MINUTE +DAY +STATE$/, /… +free +60\/60 +60\/1000 +\S/],
      [60, /^ID +LABEL +MINUTE +STATE$/, /… +60\/60 +\S/],
      [40, /^ID +LABEL +STATE$/, /… +\S/],
    ] as const) {
      let screen = "";
      const write = (part: Buffer, _encoding: string, done: () => void): void => {
        screen += stripVTControlCharacters(part.toString());
        if (screen.endsWith("\n")) process.emit("SIGTERM");
        done();
      };
      const terminal = { isTTY: true, columns, rows: 10 };
      const stdout = Object.assign(new Writable({ write }), terminal);
      const args = ["keys", "list", "--watch", "--database", database];
      expect((await petstoreOn({ stdout }, ...args)).code).toBe(0);
      expect(screen).toContain("20 keys, 6 shown");
      const lines = screen.split("\n");
      expect(lines).toHaveLength(10);
      expect(lines.at(-1)).toBe("");
      expect(lines[2]).toMatch(heading);
      expect(lines[3]).toMatch(busiest);
      for (const line of lines) {
        const wide = line.replace(/[^\u3040-\u9FFF]/g, "").length;
        expect(line.length + wide).toBeLessThanOrEqual(columns);
      }
    }
  });

  it("is refused without a terminal, and with --json", async () => {
    const database = newDatabase();
    await issueUnlimitedKey(database);
    const list = ["keys", "list", "--watch", "--database", database];
    const error = "petstore: --watch needs a terminal: leave it out";
    expect(await petstore(...list)).toEqual({ code: 1, out: "", error });
    expect((await petstore(...list, "--json")).error).toMatch(
      /^petstore: option '--watch' cannot be used with option '--json'$/,
    );
  });
});
