import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openPostgresStorage, postgresMigrations } from "@petstore/storage-postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import { inCi } from "../../../scripts/test-size.js";
import pg from "pg";
import { connectAdmin, endConnections, useAdmin } from "./support/admin.js";
import { openPool, openStorage, rex } from "./support/open-storage.js";
import { createProxy } from "./support/proxy.js";
import { giveToPostgres, usePostgres } from "./support/postgres-server.js";

const server = usePostgres();
const admin = useAdmin(server);

const lockMigrations = (schema: string) =>
  `begin; select pg_advisory_xact_lock(hashtext('petstore'), hashtext('${schema}'))`;

const open = (schema: string) => openStorage({ url: server.url(), schema });

/** The error, after a check that no part of it shows the password. */
async function errorOf(options: Parameters<typeof openPostgresStorage>[0]) {
  const error = (await openPostgresStorage(options))._unsafeUnwrapErr();
  const { cause } = error;
  const shown = [error.message, String(cause), JSON.stringify(cause)].join();
  expect(shown).not.toMatch(/correct-horse|secret-word/);
  return error;
}

const codeOf = async (options: Parameters<typeof openPostgresStorage>[0]) =>
  (await errorOf(options)).code;

describe("openPostgresStorage fails with", () => {
  it.each([
    ["cannot_connect", "ECONNREFUSED", (url: string) => url.replace(`:${server.port}`, ":1")],
    ["cannot_connect", "ENOTFOUND", () => "postgres://a:secret-word@missing.invalid/b"],
    ["wrong_credentials", "refuses", (url: string) => url.replace("correct-horse", "secret-word")],
    ["wrong_credentials", "asks for", (url: string) => url.replace(":correct-horse", "")],
    ["no_database", "create it", () => server.url("missing")],
    ["no_tls", "`ssl`", (url: string) => `${url}?sslmode=verify-full`],
  ])("%s (%s)", async (code, message, change) => {
    expect(await errorOf({ url: change(server.url()) })).toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });

  it("wrong_credentials if pg_hba.conf lets the user in only with TLS", async () => {
    const file = join(server.data, "pg_hba.conf");
    const rules = readFileSync(file, "utf8");
    const tls = "hostssl all only_tls all scram-sha-256\nhost all only_tls all reject\n";
    const url = server.url().replace("//petstore:", "//only_tls:");
    for (const [message, text] of Object.entries({ "requires TLS": tls + rules, refuses: rules })) {
      writeFileSync(file, text);
      await admin.query("select pg_reload_conf()");
      await expect.poll(async () => (await errorOf({ url })).message).toContain(message);
    }
  });

  it("not_allowed, until an operator has run the printed migrations and granted the rights", async () => {
    await admin.query(`create role guest login password 'correct-horse';
      alter default privileges revoke execute on functions from public`);
    const url = server.url().replace("//petstore:", "//guest:");
    expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
    const script = postgresMigrations("guests");
    await Promise.all([admin.query(script), (await connectAdmin(server.url())).query(script)]);
    const onTables = ["select", "insert", "update", "delete"].map((it) => `${it} on all tables in`);
    const rights = ["usage on", "execute on all functions in", ...onTables];
    for (const right of rights) await admin.query(`grant ${right} schema guests to guest`);
    for (const right of rights) {
      await admin.query(`revoke ${right} schema guests from guest`);
      expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
      await admin.query(`grant ${right} schema guests to guest`);
    }
    const storage = await openStorage({ url, schema: "guests" });
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    await admin.query("alter table guests.api_key_secrets enable row level security");
    expect(await codeOf({ url, schema: "guests" })).toBe("not_allowed");
  });

  it("read_only, not_durable, not_utf8 and postgres_too_old", async () => {
    await admin.query(`create role reader superuser login password 'correct-horse';
      alter role reader set default_transaction_read_only = on`);
    const url = server.url().replace("//petstore:", "//reader:");
    expect(await codeOf({ url })).toBe("read_only");
    await admin.set("fsync", "off");
    expect(await codeOf({ url: server.url() })).toBe("not_durable");
    await admin.set("fsync", "on");
    await admin.query("create database latin encoding 'LATIN1' template template0");
    expect(await codeOf({ url: server.url("latin") })).toBe("not_utf8");
    await admin.query("create database old");
    const old = await connectAdmin(server.url("old"));
    await old.query(`create schema old;
      create function old.current_setting(name text) returns text language sql as
        $$ select case name when 'server_version_num' then '140012' else pg_catalog.current_setting(name) end $$;
      create role antique superuser login password 'correct-horse';
      alter role antique set search_path = old, pg_catalog`);
    const oldUrl = server.url("old").replace("//petstore:", "//antique:");
    expect(await codeOf({ url: oldUrl })).toBe("postgres_too_old");
  });

  it("cannot_connect when the server ends each connection as soon as it is ready", async () => {
    const message = (type: string, ...parts: readonly string[]) => {
      const body = Buffer.from(parts.join(""));
      const head = Buffer.from(`${type}....`);
      head.writeUInt32BE(body.length + 4, 1);
      return Buffer.concat([head, body]);
    };
    const fatal = "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
    // In one packet: the login succeeds, the connection is ready, and it ends.
    const ending = [message("R", "\0\0\0\0"), message("Z", "I"), message("E", fatal)];
    const ended = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(Buffer.concat(ending)));
    });
    const url = `postgres://petstore@127.0.0.1:${await portOf(ended)}/pets`;
    expect(await codeOf({ url })).toBe("cannot_connect");
    ended.close();
  });

  it("cannot_connect when a host's connection is cut while it migrates", async () => {
    const proxy = await createProxy(server.port);
    const pool = openPool({ connectionString: proxy.url(server.url()), max: 1 });
    pool.on("error", () => undefined);
    await pool.query("select 1");
    await admin.query(lockMigrations("cut"));
    const opening = codeOf({ pool, schema: "cut" });
    const waiting = "select count(*)::int from pg_locks where not granted";
    await expect.poll(() => admin.query(waiting)).toEqual([[1]]);
    proxy.cut();
    expect(await opening).toBe("cannot_connect");
    await admin.query("rollback");
  });

  // PostgreSQL 18 waits for each login that is under way: those above have ended.
  it("no_database, also when it is dropped later", async () => {
    await admin.query("create database dropped");
    const storage = await openStorage({ url: server.url("dropped") });
    await admin.query("drop database dropped with (force)");
    expect((await storage.pets.find(1n))._unsafeUnwrapErr().message).toContain("has no database");
  }, 30_000);

  it.runIf(inCi)("busy, after waiting ten seconds for another migration", async () => {
    await admin.query(lockMigrations("waits"));
    expect(await codeOf({ url: server.url(), schema: "waits" })).toBe("busy");
    await admin.query("rollback");
    await open("waits");
  });

  it.runIf(inCi)("cannot_connect only while the server has no connection left", async () => {
    const storage = await open("full");
    const guests = new pg.Pool({ connectionString: server.url(), max: 99 });
    const taken: pg.PoolClient[] = [];
    const giveBack = () => taken.splice(0).forEach((client) => client.release(true));
    onTestFinished(() => {
      giveBack();
      return guests.end();
    });
    /** Takes a connection that the server has left. Resolves to 0 if there is none. */
    const take = () =>
      guests
        .connect()
        .then((client) => taken.push(client))
        .catch(() => 0);
    while ((await take()) > 0);
    expect(await codeOf({ url: server.url() })).toBe("cannot_connect");
    await endConnections(admin);
    await take();
    // In real time: the server must refuse each connection before the call gives it up.
    expect((await storage.pets.create(rex))._unsafeUnwrapErr().message).toContain("(53300)");
    giveBack();
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
  });

  it("schema_conflict; schema_too_new, but only after a breaking migration", async () => {
    await admin.query("create schema taken; create table taken.pets (id text)");
    const pool = openPool({ connectionString: server.url(), max: 1 });
    expect(await codeOf({ pool, schema: "taken" })).toBe("schema_conflict");
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await open("newer");
    await admin.query("insert into newer.migrations values (98, 'added a column', false)");
    await open("newer");
    await admin.query("insert into newer.migrations values (99, 'moved a table', true)");
    expect(await codeOf({ url: server.url(), schema: "newer" })).toBe("schema_too_new");
  });
});

it("connects with TLS only to the server whose certificate was signed, and says so otherwise", async () => {
  const [key = "", certificate = ""] = ["key", "crt"].map((end) => `${server.data}.${end}`);
  const host = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const args = ["req", "-x509", ...curve, ...host, "-keyout", key, "-out", certificate];
  execFileSync("openssl", args, { stdio: "ignore" });
  for (const file of [key, certificate]) giveToPostgres(file);
  const byAddress = `${server.url()}?sslmode=verify-full`;
  const byName = byAddress.replace("127.0.0.1", "localhost");
  const trusting = `&sslrootcert=${certificate}`;

  expect(await codeOf({ url: byName + trusting })).toBe("no_tls");
  await admin.query(`alter system set ssl_key_file = '${key}'`);
  await admin.query(`alter system set ssl_cert_file = '${certificate}'`);
  await admin.set("ssl", "on");
  const storage = await openStorage({ url: byName + trusting, schema: "tls" });
  expect((await storage.pets.create(rex)).isOk()).toBe(true);
  const encrypted = `select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid)
    where application_name = 'petstore'`;
  expect(await admin.query(encrypted)).toEqual([[true]]);
  const lost = `${byName}&sslrootcert=${certificate}.lost`;
  const wrong = { "another host": byAddress + trusting, "not trusted": byName, "be read": lost };
  for (const [problem, url] of Object.entries(wrong)) {
    const { code, message } = await errorOf({ url });
    expect([code, message]).toEqual(["wrong_certificate", expect.stringContaining(problem)]);
  }
});

it("a wrong option is a TypeError that names it, and shows no password", () => {
  for (const [options, message] of [
    [{ url: "mysql://a:secret-word@b" }, "openPostgresStorage: option url must be a URL"],
    [{ url: "postgres://a:12#secret-word@b/c" }, "# / ? @ must be percent-encoded"],
    [{ url: "postgres://a:12/secret-word@b/c" }, "option url must be a URL"],
    [{ url: "postgres://a:12?secret-word@b/c" }, "option url must be a URL"],
    [{ url: server.url(), schema: "No quotes" }, "option schema must be lower-case"],
    [{ url: server.url(), connections: 0 }, "option connections must be an integer"],
    [{ url: server.url(), connections: 1.5 }, "option connections must be an integer"],
    [{ url: server.url(), timeoutSeconds: 0.9 }, "option timeoutSeconds must be a number from 1"],
  ] as const) {
    expect(() => openPostgresStorage(options)).toThrow(message);
    expect(() => openPostgresStorage(options)).not.toThrow("secret-word");
  }
});
