import { renameSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { createPetStore } from "@petstore/core";
import { windowNames } from "@petstore/core/facts";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { expect, it } from "vitest";
import { aKey } from "../../storage-sql/test/support/samples.js";
import { keysOnScreen, singleKey } from "../src/keys/render-keys.js";
import { hurried, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, openBeside, petstoreOn, terminalTo, withDatabase } from "./support/command.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";

const program = useBuiltPetstore();
const CONTROL = /(?![\r\n])\p{Cc}/u;

function columnsOf(line: string): number {
  return [...new Intl.Segmenter().segment(line)].reduce(
    (width, { segment }) => width + (/[\u3040-\u9FFF\u{1F1E6}-\u{1FAFF}]/u.test(segment) ? 2 : 1),
    0,
  );
}

const HEADINGS = windowNames.map((name) => name.toUpperCase()).join(" +");
const ALL_WINDOWS = new RegExp(`^ID +LABEL +PLAN +${HEADINGS} +STATE$`);

/** Runs `keys list` on a terminal. `node` has the program, with options. */
const listOnTerminal = (
  database: string,
  options: string,
  size: readonly [number, number] = [100, 24],
  node = process.execPath,
) => runOnTerminal(`${node} ${program()} keys list --database ${database} ${options}`, ...size);

it("keys list fits a terminal of any width, or of one that it does not know, names UTC, and replaces characters that control a terminal or take no place; JSON has every key", async () => {
  const { database, run, json } = withDatabase();
  const labels = [
    "acme",
    "a name for a key that is far too long",
    "長い名前".repeat(20),
    "-",
    "🐈‍⬛👩🏽‍🚀🇯🇵".repeat(9),
    "ｶﾅ · ½ e\u0301",
    "a\u200b\u00ad\ufeff👩‍🚀",
    "a\u001b[2J\r\n\u009b\u202eb 🐈",
  ];
  const ids: string[] = [];
  for (const label of labels)
    ids.push((await issueKey(database, "--label", label, "--expires", "2099-01-01")).id);
  await run("keys", "revoke", ids[3] ?? "");
  const listed = ids.map((id, index) => ({ id, label: labels[index] }));
  expect(await json("keys", "list")).toMatchObject(listed);
  const piped = (await run("keys", "list")).out;
  expect(piped).toMatch(/LABEL.*DAY.*CREATED \(UTC\).*LAST USED \(UTC\).*EXPIRES \(UTC\).*STATE/);
  expect(piped).toMatch(/acme +free +0\/60 +(?:- +)*0\/1000/);
  expect(piped).toContain("長い名前".repeat(20));
  expect(piped).toContain(" a\uFFFD\uFFFD\uFFFD👩‍🚀 ");
  expect(piped).toContain(" a\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFDb 🐈 ");

  for (const width of [200, 120, 88, 80, 60, 40]) {
    const { out } = await petstoreOn({ columns: width }, "keys", "list", "--database", database);
    const lines = out.split("\n");
    expect(lines).toHaveLength(9);
    if (width === 120) expect(lines[0]).toMatch(/DAY +LAST USED/);
    if (width === 88) expect(lines[0]).toMatch(/PLAN +DAY/);
    const stateAt = lines[0]?.indexOf("STATE") ?? -1;
    for (const line of lines.slice(1)) {
      const [before = ""] = line.split(/(?=active|revoked)/);
      expect(columnsOf(before), "aligned").toBe(stateAt);
    }
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    for (const id of ids) expect(out).toContain(id);
    if (width >= 80) expect(out).toMatch(/revoked \S+ \S+ UTC$/m);
  }
  const { output, ended } = listOnTerminal(database, "", [0, 0]);
  expect(await ended).toBe(0);
  for (const whole of ["EXPIRES (UTC)", ...ids]) expect(output()).toContain(whole);
});

it("keys list shows no control character of a key that is stored, and exact JSON, escaped only on a terminal", async () => {
  const { database, run } = withDatabase();
  const storage = (await openSqliteStorage({ filename: database }))._unsafeUnwrap();
  const secrets = [{ digest: "d", hint: "h\u001b[2J", expiresAt: undefined }];
  const key = { ...aKey("i\u009b2J"), label: "l\u009b2J", plan: "p\u001b[2J", secrets };
  (await storage.keys.insert(key))._unsafeUnwrap();
  await storage.close();
  for (const command of [["list"], ["find", key.id]])
    expect((await run("keys", ...command)).out).not.toMatch(CONTROL);
  expect((await run("keys", "list", "--json")).out).toContain(key.label);
  const { output, ended } = listOnTerminal(database, "--json");
  expect(await ended).toBe(0);
  expect(JSON.parse(output())).toMatchObject([{ id: key.id, label: key.label }]);
  expect(output()).not.toMatch(CONTROL);
});

it.each([
  [1, "banned 1 s"],
  [1_001, "banned 2 s"],
  [90_000, "banned 90 s"],
  [90_001, "banned 2 min"],
])("on a screen, a ban that ends in %i ms is %j", async (left, state) => {
  const { key } = (await createPetStore().keys.issue({ plan: "free" }))._unsafeUnwrap();
  const banned = { ...key, bannedUntil: 5_000 + left };
  expect(keysOnScreen([banned], { now: 5_000, columns: 200 }).split("  ").at(-1)).toBe(state);
});

it("a time that is too late for a date is shown as the latest one", async () => {
  const { key } = (await createPetStore().keys.issue({ plan: "free" }))._unsafeUnwrap();
  const text = singleKey.text({ ...key, expiresAt: 9e15 }, { now: 0, columns: undefined });
  expect(text).toContain("EXPIRES (UTC)    +275760-09-13 00:00\n");
});

const OPENS = "\u001B[?1049h\u001B[?25l";
const CLOSES = "\u001B[?25h\u001B[?1049l";

it("keys list --watch shows the keys by use, or why they cannot be read, again and again, and after Ctrl-C those that it has shown last", async () => {
  const { database, json } = withDatabase();
  const { secret: quiet } = await issueKey(database);
  const { secret: busy } = await issueKey(database);
  const store = await openBeside(database);
  const node = [process.execPath, ...hurried(20)];
  const quoted = node.map((word) => `'${word.replaceAll("\n", " ")}'`).join(" ");
  const { screen, output, type, ended } = listOnTerminal(database, "--watch", undefined, quoted);
  await expect.poll(screen).toMatch(/^\d\d:\d\d:\d\d UTC {2}2 keys\r\n\r\nID .* STATE\r\n/);
  expect(output().startsWith(OPENS)).toBe(true);
  expect(screen().match(/ 0\/60 /g)).toHaveLength(2);
  for (const secret of [quiet, busy, busy]) await store.as(secret).listPets();
  await expect.poll(screen).toMatch(/ 2\/60 [^]* 1\/60 /);
  const idsOf = async (...options: readonly string[]) =>
    ((await json("keys", "list", ...options)) as { id: string }[]).map(({ id }) => id);
  const [ids, issued] = [await idsOf(), await idsOf("--sort", "issue")];
  expect([issued, await idsOf("--sort", "use")]).toEqual([ids, ids.toReversed()]);
  renameSync(database, `${database}.away`);
  await expect.poll(screen).toContain("was removed or replaced");
  expect(output().split(OPENS)).toHaveLength(2);
  expect(output()).not.toContain(CLOSES);
  type("\u0003");
  expect(await ended).toBe(0);
  const [, after = ""] = output().split(CLOSES);
  expect(after).toMatch(/^(\^C)?ID .* STATE\r\n.* 2\/60 .*\r\n.* 1\/60 .*\r\n$/);
});

it("keys list --watch fits a screen of few columns and rows", async () => {
  const { database } = withDatabase();
  const store = await openBeside(database);
  const label = "長い名前🐈".repeat(9);
  for (let count = 0; count < 20; count += 1) {
    const { secret } = (await store.keys.issue({ plan: "free", label }))._unsafeUnwrap();
    if (count !== 7) continue;
    for (let calls = 0; calls < 200; calls += 1) await store.as(secret).listPets();
  }
  for (const [columns, rows, heading, busiest] of [
    [80, 10, ALL_WINDOWS, /… +free +60\/60 +(?:- +)*60\/1000 +\S/],
    [60, 10, /^ID +LABEL +MINUTE +STATE$/, /… +60\/60 +\S/],
    [40, 10, /^ID +LABEL +STATE$/, /… +\S/],
    [30, 2, /^ID +LABEL/, /^key_\w+ {2}長い…/],
    [40, 0, /^ID +LABEL +STATE$/, /… +\S/],
  ] as const) {
    let [screen, written, isStopped] = ["", "", false];
    const size = { columns, rows };
    const stdout = terminalTo((text) => {
      written += text;
      screen = stripVTControlCharacters(written);
      if (screen.endsWith("\n") && !isStopped) isStopped = process.emit("SIGTERM", "SIGTERM");
    }, size);
    const args = ["keys", "list", "--watch", "--database", database];
    expect((await petstoreOn({ stdout }, ...args)).code).toBe(0);
    expect(written.startsWith(OPENS) && written.endsWith(CLOSES)).toBe(true);
    const shown = { 10: 6, 2: 1, 0: 20 }[rows];
    expect(screen).toContain(shown === 20 ? "20 keys\n" : `20 keys, ${shown} shown\n`);
    const lines = screen.split("\n");
    expect(lines).toHaveLength(shown + 4);
    expect(lines.at(-1)).toBe("");
    expect(lines[2]).toMatch(heading);
    expect(lines[3]).toMatch(busiest);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  }
});
