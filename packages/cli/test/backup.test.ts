import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { inCi, sized } from "../../../scripts/test-size.js";
import { startCommand, useBuiltPetstore } from "./support/built-petstore.js";
import {
  issueKey,
  issueUnlimitedKey,
  newDatabase,
  petsIn,
  petstore,
  petstoreReading,
} from "./support/command.js";
import { openBeside } from "./support/open-beside.js";

const program = useBuiltPetstore();

const PET = '{"name":"Rex","categoryId":1}\n';

it("backup says what it has made; restore puts it in place, and keeps the old database beside it, unless it is used", async () => {
  const database = newDatabase();
  const backup = join(dirname(database), "monday.db");
  await petstoreReading(PET, "pets", "import", "-", "--database", database);
  const made = await petstore("backup", backup, "--database", database);
  expect(made).toMatchObject({ code: 0, error: "" });
  expect(made.out).toMatch(/^backed up \S+ to \S+ \(\d+\.\d MB\)$/);
  await petstoreReading(PET, "pets", "import", "-", "--again", "--database", database);
  const server = await openBeside(database);
  expect(await petstore("restore", backup, "--database", database)).toEqual({
    code: 1,
    out: "",
    error: `petstore: ${database} was not restored from ${backup}: The database is in use: stop the servers and other commands on it first.`,
  });
  await server.close();
  const restored = await petstore("restore", backup, "--database", database);
  expect(restored).toMatchObject({ code: 0, error: "" });
  const [, previous = ""] = /^restored .*\nthe old database is now (\S+)$/.exec(restored.out) ?? [];
  expect((await petsIn(database)).length).toBe(1);
  expect((await petsIn(previous)).length).toBe(2);
});

it("says in one line why there is no backup, creates no database, and replaces a file only with --overwrite", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "backup.db");
  const backup = (to: string, ...options: readonly string[]) =>
    petstore("backup", to, ...options, "--database", database);
  const refusal = `petstore: no backup of ${database}: `;
  const refused = (error: unknown) => ({ code: 1, out: "", error });
  const missing: unknown = expect.stringContaining(`${refusal}The database does not exist`);
  expect([await backup(file), readdirSync(dirname(database))]).toEqual([refused(missing), []]);
  await issueUnlimitedKey(database);
  writeFileSync(file, "mine");
  expect(await backup(file)).toEqual(refused(`${refusal}The destination already exists.`));
  expect(readFileSync(file, "utf8")).toBe("mine");
  const long = join(dirname(database), "x".repeat(300));
  const reason = /: The backup failed: ENAMETOOLONG: name too long, \w+ '.*'\.$/;
  expect(await backup(long)).toEqual(refused(expect.stringMatching(reason)));
  expect((await backup(file, "--overwrite")).code).toBe(0);
});

it("makes no backup of a damaged database, and says what to do, unless it is told not to check", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "backup.db");
  await petstoreReading(PET.repeat(1_000), "pets", "import", "-", "--database", database);
  writeFileSync(database, readFileSync(database).fill(255, 5 * 4_096, 12 * 4_096));
  expect(await petstore("backup", file, "--database", database)).toEqual({
    code: 1,
    out: "",
    error: `petstore: no backup of ${database}: The database is damaged, or not an SQLite database: restore the last backup.`,
  });
  expect((await petstore("backup", file, "--no-check", "--database", database)).code).toBe(0);
  // The drill.
  const drill = await petstore("restore", file, "--database", newDatabase());
  expect(drill.error).toContain("The backup is damaged");
});

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

it.each(SIGNALS.slice(0, sized(1, 2, 2)))("leaves no files behind at %s", async (signal) => {
  const database = newDatabase();
  const other = new Database(database);
  other.exec("create table pets (id); begin exclusive");
  const folder = dirname(database);
  const backup = ["backup", join(folder, "backup.db"), "--database", database];
  const { child, output, ended } = startCommand(...backup);
  // It has begun, and waits for the lock that is held here.
  while (readdirSync(folder).length < 2) await setTimeout(5);
  child.kill(signal);
  expect(await ended).toBe(1);
  expect(output()).toBe(`petstore: no backup of ${database}: The backup was stopped.\n`);
  expect(readdirSync(folder)).toEqual(["pets.db"]);
  other.close();
});

/** Runs a shell script in a mount namespace of its own, in which the folder `$0` is read-only. */
function runReadOnly(folder: string, script: string, ...args: readonly string[]) {
  const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && ';
  const command = ["-rm", "sh", "-c", mount + script, folder, ...args];
  return spawnSync("unshare", command, { encoding: "utf8" });
}

/** unshare may be missing, or not be allowed to mount. In this folder, nothing is being written. */
const canMount = runReadOnly(import.meta.dirname, "true").status === 0;

it.runIf(inCi && canMount)("a backup on a read-only disk can be listed and exported", async () => {
  const database = newDatabase();
  const options = ["--database", database];
  await petstoreReading(PET, "pets", "import", "-", ...options);
  const { id } = await issueKey(database);
  const folder = join(dirname(database), "backups");
  const backup = join(folder, "monday.db");
  mkdirSync(folder);
  await petstore("backup", backup, ...options);
  chmodSync(backup, 0o444);

  const run = (...args: readonly string[]) =>
    runReadOnly(folder, 'exec "$@"', process.execPath, program(), ...args, "--database", backup);
  expect(run("pets", "export").stdout).toContain('"name":"Rex"');
  expect(run("keys", "list").stdout).toContain(id);
  const refused = run("keys", "revoke", id);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("read-only")]);
});
