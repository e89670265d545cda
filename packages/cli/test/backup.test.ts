import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { startBuilt, useBuiltPetstore } from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petstore } from "./support/command.js";
import { addPet, send, writeUntilCut } from "./support/client.js";

const program = useBuiltPetstore();

it("holds every pet that a busy server acknowledged before it began, and can be served", async () => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const server = await startBuilt([process.execPath, program()], "--database", database);
  const acknowledged = new Map<number, string>();
  const writing = writeUntilCut(server.url, secret, 8, "pet", (id, name) =>
    acknowledged.set(id, name),
  );
  const backups: (readonly [file: string, before: ReadonlyMap<number, string>])[] = [];
  for (let count = 0; count < 3; count += 1) {
    const more = acknowledged.size + 20;
    while (acknowledged.size < more) await setTimeout(5);
    const file = join(dirname(database), `backup-${count}.db`);
    const before = new Map(acknowledged);
    const made = await petstore("backup", file, "--database", database);
    expect(made).toMatchObject({ code: 0, error: "" });
    expect(made.out).toMatch(/^backed up \S+ to \S+ \(\d+\.\d MB\)$/);
    backups.push([file, before]);
  }
  await server.end("SIGKILL");
  await writing;

  for (const [file, before] of backups) {
    const { out } = await petstore("pets", "export", "--database", file);
    const stored = out.split("\n").map((line) => JSON.parse(line) as { id: number; name: string });
    const names = new Map(stored.map(({ id, name }) => [id, name]));
    const missing = [...before].filter(([id, name]) => names.get(id) !== name);
    expect(missing).toEqual([]);
    expect(names.size).toBe(stored.length);
  }

  const [file = ""] = backups.at(-1) ?? [];
  const restored = await startBuilt([process.execPath, program()], "--database", file);
  const listed = await send(`${restored.url}/pets?limit=1`, new Agent(), secret);
  expect(listed.status).toBe(200);
  expect(await restored.end("SIGTERM")).toBe(0);
});

it("does not replace a file without --force", async () => {
  const database = newDatabase();
  await issueUnlimitedKey(database);
  const file = join(dirname(database), "backup.db");
  writeFileSync(file, "mine");
  const refused = await petstore("backup", file, "--database", database);
  expect(refused).toEqual({
    code: 1,
    out: "",
    error: `petstore: no backup of ${database}: The destination already exists.`,
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect((await petstore("backup", file, "--force", "--database", database)).code).toBe(0);
});

it("replaces neither the database that it backs up nor another one while a server uses it", async () => {
  const database = newDatabase();
  await issueUnlimitedKey(database);
  const used = newDatabase();
  const secret = await issueUnlimitedKey(used);
  const server = await startBuilt([process.execPath, program()], "--database", used);
  const overUsed = (source: string) => petstore("backup", used, "--force", "--database", source);
  expect(await overUsed(used)).toEqual({
    code: 1,
    out: "",
    error: `petstore: no backup of ${used}: The destination is the database itself, or a file that belongs to it.`,
  });
  expect(await overUsed(database)).toEqual({
    code: 1,
    out: "",
    error: `petstore: no backup of ${database}: The file to replace is a database that another connection has open.`,
  });
  const added = await addPet(server.url, new Agent(), secret, "Rex");
  expect(added.status).toBe(201);
  await server.end("SIGKILL");
  expect((await petstore("pets", "export", "--database", used)).out).toBe(added.body);

  // The killed server has left its log behind.
  await issueUnlimitedKey(used);
  expect(await overUsed(database)).toMatchObject({ code: 0, error: "" });
  expect((await petstore("pets", "export", "--database", used)).out).toBe("");
});

it("reports a missing database in one line, and does not create it", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "backup.db");
  const refused = await petstore("backup", file, "--database", database);
  expect(refused.code).toBe(1);
  expect(refused.error).toMatch(/^petstore: no backup of .*: The database does not exist .*$/);
  expect([existsSync(file), existsSync(database)]).toEqual([false, false]);
});

it("names the cause of an unexpected failure", async () => {
  const database = newDatabase();
  await issueUnlimitedKey(database);
  const file = join(dirname(database), "x".repeat(300));
  const failed = await petstore("backup", file, "--database", database);
  expect(failed.code).toBe(1);
  expect(failed.error).toMatch(
    /^petstore: no backup of \S+: The backup failed: ENAMETOOLONG: name too long, \w+ '.*'\.$/,
  );
});

it("leaves no files behind when it receives a stop signal", async () => {
  const database = newDatabase();
  const other = new Database(database);
  other.exec("create table pets (id); begin exclusive");
  const folder = dirname(database);
  const file = join(folder, "backup.db");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const args = [program(), "backup", file, "--database", database];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    let error = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
    const ended = once(child, "close");
    // It has begun, and waits for the lock that is held here.
    while (readdirSync(folder).length < 2) await setTimeout(5);
    child.kill(signal);
    expect(await ended).toEqual([1, null]);
    expect(error).toBe(`petstore: no backup of ${database}: The backup was stopped.\n`);
    expect(readdirSync(folder)).toEqual(["pets.db"]);
  }
  other.close();
});
