import { openPostgresStorage, postgresMigrations } from "@petstore/storage-postgres";
import { describe, expect, it } from "vitest";
import { connectAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";
import { rex } from "./support/samples.js";

const server = usePostgres();

/** The code of the error, after a check that no part of it shows the password. */
async function codeOf(options: Parameters<typeof openPostgresStorage>[0]): Promise<string> {
  const error = (await openPostgresStorage(options))._unsafeUnwrapErr();
  const { cause } = error;
  const shown = [error.message, String(cause), JSON.stringify(cause)].join();
  expect(shown).not.toMatch(/correct-horse|secret-word/);
  return error.code;
}

describe("openPostgresStorage fails with", () => {
  it("cannot_connect", async () => {
    const url = server.url().replace(`:${server.port}`, ":1");
    expect(await codeOf({ url })).toBe("cannot_connect");
    expect(await codeOf({ url: "postgres://a:secret-word@missing.invalid/b" })).toBe(
      "cannot_connect",
    );
  });

  it("wrong_credentials", async () => {
    const url = server.url().replace("correct-horse", "secret-word");
    expect(await codeOf({ url })).toBe("wrong_credentials");
  });

  it("no_database", async () => {
    expect(await codeOf({ url: server.url("missing") })).toBe("no_database");
  });

  it("not_allowed, until an operator has run the printed migrations and granted the rights", async () => {
    const admin = await connectAdmin(server.url());
    await admin.query("create role guest login password 'correct-horse'");
    const url = server.url().replace("//petstore:", "//guest:");
    expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
    const script = postgresMigrations("guests");
    await Promise.all([admin.query(script), (await connectAdmin(server.url())).query(script)]);
    expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
    await admin.query("grant usage on schema guests to guest");
    await admin.query("grant select on all tables in schema guests to guest");
    expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
    await admin.query("grant insert, update, delete on all tables in schema guests to guest");
    const storage = await openStorage({ url, schema: "guests" });
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    await storage.close();
  });

  it("read_only and not_durable", async () => {
    const admin = await connectAdmin(server.url());
    await admin.query("create role reader superuser login password 'correct-horse'");
    const url = server.url().replace("//petstore:", "//reader:");
    await admin.query("alter role reader set default_transaction_read_only = on");
    expect(await codeOf({ url })).toBe("read_only");
    await admin.query("alter role reader reset all");
    await admin.query("alter role reader set synchronous_commit = off");
    expect(await codeOf({ url })).toBe("not_durable");
  });

  it("not_utf8", async () => {
    const admin = await connectAdmin(server.url());
    await admin.query("create database latin encoding 'LATIN1' template template0");
    expect(await codeOf({ url: server.url("latin") })).toBe("not_utf8");
  });

  it("schema_too_new, but only after a breaking migration", async () => {
    const admin = await connectAdmin(server.url());
    await (await openStorage({ url: server.url(), schema: "newer" })).close();
    await admin.query("insert into newer.migrations values (98, 'added a column', false)");
    await (await openStorage({ url: server.url(), schema: "newer" })).close();
    await admin.query("insert into newer.migrations values (99, 'moved a table', true)");
    expect(await codeOf({ url: server.url(), schema: "newer" })).toBe("schema_too_new");
  });

  it("schema_conflict", async () => {
    const admin = await connectAdmin(server.url());
    await admin.query("create schema taken; create table taken.pets (id text)");
    expect(await codeOf({ url: server.url(), schema: "taken" })).toBe("schema_conflict");
  });
});

it("a wrong option is a TypeError that names it, and shows no password", () => {
  for (const [options, message] of [
    [{ url: "mysql://a:secret-word@b" }, "openPostgresStorage: option url must be a URL"],
    [{ url: server.url(), schema: "No quotes" }, "option schema must be lower-case"],
    [{ url: server.url(), connections: 0 }, "option connections must be an integer"],
  ] as const) {
    expect(() => openPostgresStorage(options)).toThrow(message);
    expect(() => openPostgresStorage(options)).not.toThrow("secret-word");
  }
});

it("two servers may open a new schema at once", async () => {
  const options = { url: server.url(), schema: "at_once" };
  const opened = await Promise.all([
    openStorage(options),
    openStorage(options),
    openStorage(options),
  ]);
  for (const storage of opened) await storage.close();
});
