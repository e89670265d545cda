import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { inCi } from "../../../scripts/test-size.js";
import { startCommand, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, openBeside, petsIn, refused, REX, withDatabase } from "./support/command.js";

const program = useBuiltPetstore();

function setUp() {
  const { database, run, read } = withDatabase();
  return {
    ...{ database, run, folder: dirname(database), file: join(dirname(database), "backup.db") },
    add: (pets = REX) => read(pets, "pets", "import", "-", "--again"),
    backup: (to: string, ...options: readonly string[]) => run("backup", to, ...options),
  };
}

it("backup says what it has made; restore puts it in place, and keeps the old database beside it, unless it is used", async () => {
  const { database, file, run, add, backup } = setUp();
  await add();
  expect((await backup(file)).out).toMatch(/^backed up \S+ to \S+ \(\d+\.\d MB\)$/);
  await add();
  const server = await openBeside(database);
  expect((await run("restore", file)).error).toContain(`${database} was not restored from ${file}`);
  await server.close();
  const restored = await run("restore", file);
  expect(restored).toMatchObject({ code: 0, error: "" });
  const [, previous = ""] = /^restored .*\nthe old database is now (\S+)$/.exec(restored.out) ?? [];
  expect([(await petsIn(database)).length, (await petsIn(previous)).length]).toEqual([1, 2]);
});

it("says in one line why there is no backup, creates no database, and replaces a file only with --overwrite", async () => {
  const { database, folder, file, backup } = setUp();
  const noBackup = `petstore: no backup of ${database}: `;
  const missing: unknown = expect.stringContaining(`${noBackup}The database does not exist`);
  expect([await backup(file), readdirSync(folder)]).toEqual([refused(missing), []]);
  await issueKey(database);
  writeFileSync(file, "mine");
  expect(await backup(file)).toEqual(refused(`${noBackup}The destination already exists.`));
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect((await backup(join(folder, "x".repeat(300)))).error).toContain("ENAMETOOLONG");
  expect((await backup(file, "--overwrite")).code).toBe(0);
});

it("makes no backup of a damaged database, and says what to do, unless it is told not to check", async () => {
  const { database, file, add, backup } = setUp();
  await add(REX.repeat(1_000));
  writeFileSync(database, readFileSync(database).fill(255, 5 * 4_096, 12 * 4_096));
  expect((await backup(file)).error).toContain(`no backup of ${database}: The database is damaged`);
  expect((await backup(file, "--no-check")).code).toBe(0);
  expect((await setUp().run("restore", file)).error).toContain("The backup is damaged");
});

it.each(["SIGTERM", "SIGINT"] as const)("leaves no files behind at %s", async (signal) => {
  const { database, folder, file } = setUp();
  const other = new Database(database);
  other.exec("create table pets (id); begin exclusive");
  const { child, output, ended } = startCommand("backup", file, "--database", database);
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
  const { database, folder, run, add } = setUp();
  await add();
  const { id } = await issueKey(database);
  const [backups, backup] = [join(folder, "backups"), join(folder, "backups/monday.db")];
  mkdirSync(backups);
  await run("backup", backup);
  chmodSync(backup, 0o444);
  const withBackup = ["--database", backup];
  const runOn = (...args: readonly string[]) =>
    runReadOnly(backups, 'exec "$@"', process.execPath, program(), ...args, ...withBackup);
  expect(runOn("pets", "export").stdout).toContain('"name":"Rex"');
  expect(runOn("keys", "list").stdout).toContain(id);
  const revoked = runOn("keys", "revoke", id);
  expect([revoked.status, revoked.stderr]).toEqual([1, expect.stringContaining("read-only")]);
});
