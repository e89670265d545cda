import { spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { expect, it, vi } from "vitest";
import { connectAdmin } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { count, sendAll } from "../support/client.js";
import { issueKey, newDatabase, petstore, petstoreReading } from "../support/command.js";
import { namesIn, openBeside, petstoreOn, REX } from "../support/command.js";
import { inCi } from "../../../../scripts/test-size.js";

const program = useBuiltPetstore();
const postgres = usePostgres();
const run = (...args: readonly string[]) => petstore(...args, "--database", postgres.url());

const exported = async (what: string, database: string, ...more: readonly string[]) =>
  (await petstore(what, "export", "--database", database, ...more)).out;

const importing = (what: string, text: string, database: string, ...more: readonly string[]) =>
  petstoreReading(text, what, "import", "-", "--database", database, ...more);

it("workers on one database admit exactly the plan together, and every other command works on it", async () => {
  const { secret } = await issueKey(postgres.url(), "--label", "acme");
  const server = await startServer("--database", postgres.url(), "--workers", "2");
  const replies = await sendAll([server], Array<string>(200).fill(secret));
  expect([count(replies, 200), count(replies, 429)]).toEqual([60, 140]);
  expect(server.output()).toContain("database  postgres://petstore@127.0.0.1");
  expect(server.output()).not.toContain("correct-horse");
  expect(await server.end()).toBe(0);

  const pet = '{"name":"Rex","categoryId":9223372036854775807}\n';
  // The clock of the database counts.
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  expect(await importing("pets", pet, postgres.url())).toMatchObject({ code: 0 });
  vi.useRealTimers();
  expect((await importing("pets", pet, postgres.url())).out).toContain("1 line was there already");
  expect(await exported("pets", postgres.url())).toContain(pet.slice(1, -2));
  expect((await run("keys", "list")).out).toMatch(/acme +free +60\/60/);
  expect((await run("migrate")).out).toMatch(/^the tables of postgres:.* are up to date$/);
  expect((await petstore("migrate", "--print")).out).toMatch(/^begin [^]*create table/);
  expect((await run("backup", newDatabase())).error).toContain("pg_dump");
  expect((await run("restore", newDatabase())).error).toContain("pg_restore");
});

it("a store moves to PostgreSQL and back exactly, with what its keys have used, also when it is interrupted, and stops at a pet that differs", async () => {
  const names = ["\\.", "a\n\\.\nb", "\r\n", '"\\""', "💥é", "x".repeat(65_536), "", " \t,"];
  const lines = names.map((name, index) => {
    const id = index === 7 ? 2n ** 62n : BigInt(3 * index + 1);
    return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":-9223372036854775808,"status":"sold"}\n`;
  });
  const [from, back] = [newDatabase(), newDatabase()];
  await (await connectAdmin(postgres.url())).query("create database moved");
  const to = postgres.url("moved");
  const restoring = (text: string, database: string, ...more: readonly string[]) =>
    importing("pets", text, database, "--keep-ids", ...more);

  expect(await restoring(lines.join(""), from)).toMatchObject({ code: 0 });
  const pets = await exported("pets", from);
  expect(pets).toBe(lines.join("").trimEnd());
  const { secret } = await issueKey(from, "--label", "acme");
  const admit = async (database: string) =>
    (await (await openBeside(database)).as(secret).admit())._unsafeUnwrap().quota.remaining;
  expect([await admit(from), await admit(from)]).toEqual([59, 58]);
  const keys = await exported("keys", from);
  expect(keys).not.toContain(secret);
  for (const [database, format] of Object.entries({ [to]: "ndjson", [back]: "csv" })) {
    const text = await exported("pets", database === to ? from : to, "--format", format);
    const cut = `${text.split("\n").slice(0, 3).join("\n")}${format === "csv" ? "" : "\n{"}`;
    await restoring(cut, database, "--format", format);
    const { code, out } = await restoring(`${text}\n`, database, "--format", format);
    expect([code, out]).toEqual([0, expect.stringMatching(/(were|was) there already/)]);
    expect(await exported("pets", database)).toBe(pets);
    await importing("keys", `${keys}\n`, database);
    expect(await exported("keys", database)).toBe(keys);
  }
  expect(await admit(to)).toBe(57);
  const other = await restoring(lines.join("") + (lines[1] ?? "").replace("sold", "pending"), back);
  expect([other.code, other.error]).toEqual([1, expect.stringContaining("line 9 has the id of")]);
  const pet = '{"name":"next","categoryId":1}\n';
  expect((await restoring(pet, back)).error).toContain("line 1: Its id is not");
  await importing("pets", pet, back);
  expect(await exported("pets", back)).toContain(`{"id":${2n ** 62n + 1n},"name":"next"`);
});

it.each<[cause: string, databaseOf: () => string, lose: (database: string) => unknown]>([
  ["its file is removed", newDatabase, (database) => rmSync(database)],
  [
    "a standby that was behind takes over",
    () => postgres.url(),
    async (url) => (await connectAdmin(url)).query("update petstore.writers set seq = seq - 1"),
  ],
])("an import fails if the database loses its pets, because %s", async (_, databaseOf, lose) => {
  for (const rest of [REX, "bad\n", ""]) {
    const database = databaseOf();
    const name = `lost before ${rest.length}`;
    async function* input() {
      yield Buffer.from(`{"name":"${name}","categoryId":1}\n`);
      await expect.poll(() => namesIn(database)).toContain(name);
      await lose(database);
      yield Buffer.from(rest);
    }
    const args = ["pets", "import", "-", "--database", database];
    const { code, error } = await petstoreOn({ stdin: Readable.from(input()) }, ...args);
    expect([code, error]).toEqual([1, expect.stringMatching(/(removed|lost) .* Repeat /)]);
  }
});

it.runIf(inCi)("says how to install pg if it is missing", () => {
  const copy = `${newDatabase()}.petstore`;
  const filter = (path: string) => basename(path) !== "pg";
  cpSync(dirname(program()), copy, { recursive: true, verbatimSymlinks: true, filter });
  const args = [join(copy, "bin.js"), "keys", "list", "--database", postgres.url()];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toContain("pg cannot be loaded: run `npm install pg`.");
});

it.each([
  ["wrong password", (url: string) => url.replace("correct", "wrong"), "password"],
  ["a password in a parameter", () => "postgres://u@127.0.0.1:1/d?password=horse", "u@127.0.0.1:1"],
  ["a wrong port", () => "postgres://u:correct-horse@h:x/", "not valid"],
  ["a bare ? and =", () => "postgres://u:1?horse=@h/d", "postgres://…"],
  ["a bare #", () => "postgres://u:1#horse@h/d", "not valid"],
  ["capitals", () => "Postgres://u:horse@127.0.0.1:1/d", "//u@127.0.0.1:1/d"],
  ["a blank", () => " postgres://u:horse@127.0.0.1:1/d", "not valid"],
  ["one slash", () => "postgres:/u:horse@127.0.0.1:1/d", "not valid"],
  ["a percent-encoded colon", () => "postgres://u%3Ahorse@127.0.0.1:1/d", "postgres://…"],
  ["another scheme, in quotes", () => '"postgresql+ssl://u:horse@h/d"', "not valid"],
  ["no colon", () => "postgres//u:horse@127.0.0.1:1/d", "not valid"],
  ["no scheme", () => "user:ho/horse@127.0.0.1:1/d", "not valid"],
  ["a wrong sign after the host", () => "postgres://h;password=horse/d?user=u", "not valid"],
  ["a wrong sign in the query", () => "postgres://h/d?user=u;password=horse", "not valid"],
  ["a user with a colon", () => "postgres://127.0.0.1:1/d?user=u:horse", "postgres://…"],
  ["a connection string", () => "host=127.0.0.1 user=u password=horse", "not valid"],
])("says why it cannot use the database, without the password: %s", async (_, change, reason) => {
  const { code, error } = await petstore("keys", "list", "--database", change(postgres.url()));
  expect([code, error]).toEqual([1, expect.stringContaining(reason)]);
  expect(error).not.toContain("horse");
});

it("takes the password from PGPASSWORD or a password file", () => {
  const file = `${newDatabase()}.pgpass`;
  writeFileSync(file, "127.0.0.1:*:*:petstore:correct-horse\n", { mode: 0o600 });
  const database = postgres.url().replace(":correct-horse", "");
  for (const variables of [{ PGPASSWORD: "correct-horse" }, { PGPASSFILE: file }]) {
    const env = { ...process.env, PETSTORE_DATABASE: database, ...variables };
    expect(spawnSync(process.execPath, [program(), "keys", "list"], { env }).status).toBe(0);
  }
});
