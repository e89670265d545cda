import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { connectAdmin } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { count, sendAll } from "../support/client.js";
import { issueKey, newDatabase, petstore } from "../support/command.js";
import { openBeside } from "../support/open-beside.js";

const program = useBuiltPetstore();
const postgres = usePostgres();

const run = (...args: readonly string[]) => petstore(...args, "--database", postgres.url());

it("workers on one database admit exactly the plan together", async () => {
  const { secret } = await issueKey(postgres.url());
  const server = await startServer("--database", postgres.url(), "--workers", "2");
  const replies = await sendAll([server], Array<string>(200).fill(secret));
  expect({ admitted: count(replies, 200), refused: count(replies, 429) }).toEqual({
    admitted: 60,
    refused: 140,
  });
  expect(server.output()).toContain("database  postgres://petstore@127.0.0.1");
  expect(server.output()).not.toContain("correct-horse");
  expect(await server.end()).toBe(0);
});

it("every other command works on the same database", async () => {
  const pets = `${newDatabase()}.ndjson`;
  writeFileSync(pets, '{"name":"Rex","categoryId":9223372036854775807}\n');
  expect(await run("pets", "import", pets)).toMatchObject({ code: 0 });
  expect((await run("pets", "export")).code).toBe(0);
  await issueKey(postgres.url(), "--plan", "pro", "--label", "acme");
  expect((await run("keys", "list")).out).toMatch(/acme +pro +0\/300/);
  expect((await run("migrate")).out).toMatch(/^the tables of postgres:.* are up to date$/);
  expect((await petstore("migrate", "--print")).out).toMatch(/^begin;[^]*create table/);
});

it("keys move from a file with their secrets, usage and bans, once, and no secret is printed", async () => {
  const file = newDatabase();
  const of = (...args: readonly string[]) => petstore(...args, "--database", file);
  const { id, secret } = await issueKey(file, "--label", "moved");
  await issueKey(file, "--plan", "pro");
  const before = await openBeside(file);
  for (let used = 0; used < 7; used += 1) (await before.as(secret).admit())._unsafeUnwrap();

  const lines = `${file}.keys`;
  writeFileSync(lines, (await of("keys", "export")).out);
  expect(readFileSync(lines, "utf8")).not.toContain(secret);
  expect(await run("keys", "import", lines)).toEqual({
    code: 0,
    out: "imported 2 keys",
    error: "",
  });
  expect((await run("keys", "show", id)).out).toBe((await of("keys", "show", id)).out);
  const after = await openBeside(postgres.url());
  expect((await after.as(secret).admit())._unsafeUnwrap().quota.remaining).toBe(52);
  expect((await run("keys", "import", lines)).out).toBe(
    "imported 0 keys; 2 keys were there already",
  );
  expect((await run("keys", "show", id)).out).toMatch(/MINUTE +8\/60/);
});

it("keys are not imported if a line is wrong", async () => {
  const lines = `${newDatabase()}.keys`;
  const before = (await run("keys", "list")).out;
  const [first = ""] = (await run("keys", "export")).out.split("\n");
  const key = JSON.parse(first.replace('"id":"', '"id":"new')) as object;
  writeFileSync(lines, `${JSON.stringify(key)}\n${JSON.stringify({ ...key, plan: 7 })}\n`);
  const { code, error } = await run("keys", "import", lines);
  expect({ code, error }).toEqual({
    code: 1,
    error: "petstore: line 2 is not a key that `keys export` has printed: plan",
  });
  expect((await run("keys", "list")).out).toBe(before);
});

it("/readyz is 503 while the database cannot be written", async () => {
  const admin = await connectAdmin(postgres.url());
  await admin.query("create database ready");
  const { url } = await startServer("--database", postgres.url("ready"));
  const status = async () => (await fetch(new URL("/readyz", url))).status;
  expect(await status()).toBe(200);
  await admin.query("alter database ready set default_transaction_read_only = on");
  await admin.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'ready'",
  );
  expect(await status()).toBe(503);
  await admin.query("alter database ready reset default_transaction_read_only");
  expect(await status()).toBe(200);
});

it("says how to install pg if it is missing", () => {
  const copy = `${newDatabase()}.petstore`;
  cpSync(dirname(program()), copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => basename(path) !== "pg",
  });
  const args = [join(copy, "bin.js"), "keys", "list", "--database", postgres.url()];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toContain("pg cannot be loaded: run `npm install pg`.");
});

it("backup and restore name PostgreSQL's own programs", async () => {
  expect((await run("backup", newDatabase())).error).toContain("pg_dump");
  expect((await run("restore", newDatabase())).error).toContain("pg_restore");
});

it.each([
  ["a wrong password", (url: string) => url.replace("correct", "wrong"), "password"],
  ["no such database", (url: string) => `${url}x`, "no database"],
  ["no server", (url: string) => url.replace(/:\d+\//, ":1/"), "cannot be reached"],
  ["a URL that is not one", () => "postgres://u:correct-horse@h:x/", "not valid"],
])("says why with %s, without the password", async (_, change, reason) => {
  const url = change(postgres.url());
  const { code, error } = await petstore("keys", "list", "--database", url);
  expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(reason) as string });
  expect(error).not.toMatch(/horse/);
});
