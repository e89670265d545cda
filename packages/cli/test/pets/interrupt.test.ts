import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { inCi, sized } from "../../../../scripts/test-size.js";
import { startCommand, useBuiltPetstore } from "../support/built-petstore.js";
import { fillUpAfter, issueKey, newDatabase, petsIn, petstore } from "../support/command.js";
import { REX, withDatabase } from "../support/command.js";

const program = useBuiltPetstore();

const startImport = (file: string, database: string, ...options: readonly string[]) =>
  startCommand("pets", "import", file, "--database", database, ...options);

it("an import stops at a signal, and names the line to resume at", async () => {
  const database = newDatabase();
  const { child, output, ended } = startImport("-", database);
  child.stdin.write(`${REX}${REX}bad\n${REX}${REX}`);
  await expect.poll(output).toContain("line 3");
  child.kill("SIGHUP");
  expect(await ended).toBe(1);
  expect(output()).toContain("imported 4 pets\n");
  expect(output()).toContain("it received a signal to stop. Everything before line 6 is done");
  expect(await petsIn(database)).toHaveLength(4);
});

it.each([
  ["pets", "<&-", "cannot read standard input: it is closed, or /dev/null"],
  ["keys", "</", "cannot read standard input: it is a directory"],
  ["pets", '<$0 >"${0%.ndjson}"', "cannot write to standard output: it is a file of the database"],
  ["keys", '2>>"${0%.ndjson}"', "cannot write to standard error: it is a file of the database"],
  ["keys", '>>"${0%.ndjson}" 2>&1'],
  [
    "pets",
    '--rejects "$0" --from-line 2 < "$0"',
    "cannot write rejected lines to $0: it is the file that is imported",
  ],
])("%s import - %s fails: %s", (what, input, reason = "") => {
  const database = newDatabase();
  const file = `${database}.ndjson`;
  writeFileSync(file, REX);
  const args = [process.execPath, program(), what, "import", "-", "--database", database];
  const child = spawnSync("sh", ["-c", `"$@" ${input}`, file, ...args], { encoding: "utf8" });
  const said = reason && `petstore: ${reason.replace("$0", file)}\n`;
  expect([child.status, child.stdout + child.stderr]).toEqual([1, said]);
  expect(existsSync(database) && readFileSync(database, "utf8")).toBeFalsy();
});

const PETS = sized(0, 100_000, 1_000_000);
const KILLS = sized(0, 5, 20);

function countIn(database: string): { readonly pets: number; readonly names: number } {
  const reader = new Database(database, { readonly: true });
  const sql = "select count(*) as pets, count(distinct name) as names from pets";
  const counts = reader.prepare<[], { pets: number; names: number }>(sql).get();
  reader.close();
  return counts ?? { pets: -1, names: -1 };
}

it.runIf(inCi)("an import that is run again adds each line once, after kills", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "pets.csv");
  const heading = "name,categoryId\n";
  const lines = Array.from({ length: PETS }, (_, index) => `"pet ${index}",${index}\n`);
  writeFileSync(file, `${heading}bad\n${lines.join("")}`);
  const rejects = ["--rejects", `${file}.bad`];
  await issueKey(database);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const { child, ended } = startImport("-", database, "--format", "csv", ...rejects);
    const text = `${heading}bad\n${lines.slice(0, -1).join("")}`;
    child.stdin.on("error", () => undefined).write(text);
    const enough = (PETS * kill) / (KILLS + 2);
    await expect.poll(() => countIn(database).pets, { interval: 5 }).toBeGreaterThan(enough);
    child.kill("SIGKILL");
    expect(await ended).toBe("SIGKILL");
  }
  const { pets } = countIn(database);
  expect(pets).toBeLessThan(PETS);
  const count = (of: number): string => of.toLocaleString("en-US");
  const args = ["pets", "import", file, ...rejects, "--database", database];
  const line = `imported ${count(PETS - pets)} pets; ${count(pets)} lines were there already`;
  expect(await petstore(...args)).toMatchObject({ code: 1, out: line });
  expect(countIn(database)).toEqual({ pets: PETS, names: PETS });
  expect(readFileSync(`${file}.bad`, "utf8")).toBe(`${heading}bad\n`);
});

it("an import of lines again that stops has added none behind the line where it resumes", async () => {
  const { database, read } = withDatabase();
  const pets = Array.from({ length: 1_200 }, (_, index) => `{"name":"${index}","categoryId":7}\n`);
  const run = (text = pets.join("")) => read(text, "pets", "import", "-", "--again");
  await issueKey(database);
  const connection = new Database(database);
  // Not caused by one pet: the whole transaction fails.
  const failing = "when new.name = '7' begin select abs(-9223372036854775807 - 1); end";
  connection.exec(`create trigger failing before insert on pets ${failing}`);
  expect(await run()).toMatchObject({ code: 1, out: "imported 0 pets" });
  // The commit fails, and so does the next one, without which a crash could store it.
  connection.exec(`drop trigger failing;
    create table late (id integer primary key, other references late deferrable initially deferred);
    create trigger failing after insert on pets when new.name = '7' begin insert into late values (1, 2); end`);
  const spy = vi.spyOn(Database.prototype, "exec");
  spy.mockImplementation(function (this: Database.Database, source) {
    if (source === "begin immediate") throw new Error("The disk fails.");
    this.prepare(source).run();
    return this;
  });
  expect((await run()).error).toContain("lines 1 to 250 may have been added");
  expect((await run(pets[7])).error).toContain("lines 1 to 1 may have been added");
  spy.mockRestore();
  connection.exec("drop trigger failing").close();
  expect((await run()).out).toBe("imported 1,200 pets");
  expect(countIn(database)).toEqual({ pets: 1_200, names: 1_200 });
});

const text = 'name,categoryId,status\n"Rex\n2",1,\nTom,2,sold\n';

it("an import that is run again recognises lines in another file and in standard input, not under another heading, nor another pet", async () => {
  const { database, read } = withDatabase();
  const [one, other] = [`${database}.csv`, `${database}.copy.csv`];
  writeFileSync(one, text);
  copyFileSync(one, other);
  const run = (...args: readonly string[]) => read(text, "pets", "import", ...args);
  expect(await run(one)).toMatchObject({ code: 0, out: "imported 2 pets" });
  const again = "imported 0 pets; 3 lines were there already";
  expect(await run(other)).toMatchObject({ code: 0, out: again });
  const input = ["-", "--format", "csv"];
  expect(await run(...input)).toMatchObject({ code: 0, out: again });
  const resumed = "imported 0 pets; 1 line was there already";
  expect(await run(one, "--from-line", "4")).toMatchObject({ out: resumed });
  writeFileSync(other, text.replace("status", "owner"));
  expect(await run(other)).toMatchObject({ code: 0, out: "imported 2 pets" });
  writeFileSync(other, text.replace("Tom", "Max"));
  const partly = "imported 1 pet; 2 lines were there already";
  expect(await run(other)).toMatchObject({ code: 0, out: partly });
  const full = fillUpAfter(database, 0);
  writeFileSync(other, `${text}Bo,3,\n`);
  const stopped = expect.stringContaining("Everything before line 5 is done: resume") as string;
  expect(await run(other)).toMatchObject({ code: 1, out: again, error: stopped });
  full.end();
  expect(countIn(database)).toEqual({ pets: 5, names: 3 });

  for (const pets of [7, 9]) {
    expect((await run(...input, "--again")).out).toBe("imported 2 pets");
    expect(countIn(database)).toEqual({ pets, names: 3 });
  }
  const connection = new Database(database);
  connection.exec("update pet_creations set expires_at = expires_at - 86400000 where pet_id = 1");
  connection.close();
  const long = `${again}; 2 lines of these for over 24 hours: they may be forgotten at any time, and a repeated import would then add them again`;
  expect(await run(...input)).toMatchObject({ code: 0, out: long });
});
