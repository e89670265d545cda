import { execFileSync } from "node:child_process";
import { chownSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { openPostgresStorage, postgresMigrations } from "@petstore/storage-postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import { sized } from "../../../scripts/test-size.js";
import pg from "pg";
import { connectAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { whileTimePasses } from "./support/pass-time.js";
import { unprivilegedUser, usePostgres } from "./support/postgres-server.js";
import { rex } from "../../storage-sql/test/support/samples.js";

const server = usePostgres();

const END_CONNECTIONS =
  "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'petstore'";

/** The code of the error, after a check that no part of it shows the password. */
async function codeOf(options: Parameters<typeof openPostgresStorage>[0]): Promise<string> {
  const error = (await openPostgresStorage(options))._unsafeUnwrapErr();
  const { cause } = error;
  const shown = [error.message, String(cause), JSON.stringify(cause)].join();
  expect(shown).not.toMatch(/correct-horse|secret-word/);
  return error.code;
}

describe("openPostgresStorage fails with", () => {
  it.each([
    ["cannot_connect", (url: string) => url.replace(`:${server.port}`, ":1")],
    ["cannot_connect", () => "postgres://a:secret-word@missing.invalid/b"],
    ["wrong_credentials", (url: string) => url.replace("correct-horse", "secret-word")],
    ["no_database", () => server.url("missing")],
  ])("%s (%#)", async (code, change) => {
    expect(await codeOf({ url: change(server.url()) })).toBe(code);
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

  it("postgres_too_old", async () => {
    const admin = await connectAdmin(server.url());
    // The server says of itself that it is older.
    await admin.query("create role antique superuser login password 'correct-horse'");
    await admin.query("create database old");
    const old = await connectAdmin(server.url("old"));
    await old.query(`create schema old;
      create function old.current_setting(name text) returns text language sql as
        $$ select case name when 'server_version_num' then '140012' else pg_catalog.current_setting(name) end $$;
      alter role antique set search_path = old, pg_catalog`);
    const url = server.url("old").replace("//petstore:", "//antique:");
    expect(await codeOf({ url })).toBe("postgres_too_old");
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
    const port = await portOf(ended);
    expect(await codeOf({ url: `postgres://petstore@127.0.0.1:${port}/pets` })).toBe(
      "cannot_connect",
    );
    ended.close();
  });

  it.runIf(sized(0, 1, 1))("busy, after waiting ten seconds for another migration", async () => {
    const admin = await connectAdmin(server.url());
    await admin.query(
      "begin; select pg_advisory_xact_lock(hashtext('petstore'), hashtext('waits'))",
    );
    expect(await codeOf({ url: server.url(), schema: "waits" })).toBe("busy");
    await admin.query("rollback");
    await (await openStorage({ url: server.url(), schema: "waits" })).close();
  });

  it("cannot_connect while the server has no connection left, and calls work again when it has", async () => {
    const storage = await openStorage({ url: server.url(), schema: "full" });
    const admin = await connectAdmin(server.url());
    const taken: pg.Client[] = [];
    /** Takes a connection. Resolves to whether the server had one left. */
    const take = async (): Promise<boolean> => {
      const client = new pg.Client({ connectionString: server.url(), application_name: "guest" });
      const connected = client.on("error", () => undefined).connect();
      return connected.then(
        () => taken.push(client) > 0,
        () => false,
      );
    };
    while (await take());
    expect(await codeOf({ url: server.url() })).toBe("cannot_connect");
    // The place of the storage's own connection is taken, too.
    await admin.query(END_CONNECTIONS);
    await take();
    const failed = await whileTimePasses(() => storage.pets.create(rex));
    expect(failed._unsafeUnwrapErr().message).toContain(
      "the server has no connection left (53300)",
    );
    for (const client of taken) await client.end();
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    await storage.close();
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

it("connects with TLS only to the server whose certificate was signed, and says so otherwise", async () => {
  const admin = await connectAdmin(server.url());
  const folder = dirname(server.data);
  /** Creates a certificate for a host that is its own authority. Returns its file. */
  const certify = (name: string, host: string): string => {
    const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
    const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const files = ["-keyout", key, "-out", certificate, "-days", "2"];
    const args = ["req", "-x509", ...curve, ...files, ...subject];
    execFileSync("openssl", args, { stdio: "ignore" });
    const owner = unprivilegedUser();
    if (owner) for (const file of [key, certificate]) chownSync(file, owner.uid, owner.gid);
    return certificate;
  };
  const serveWith = async (name: string): Promise<void> => {
    await admin.query(`alter system set ssl_key_file = '${join(folder, name)}.key'`);
    await admin.query(`alter system set ssl_cert_file = '${join(folder, name)}.crt'`);
    await admin.query("alter system set ssl = on");
    await admin.query("select pg_reload_conf()");
    await expect
      .poll(() => admin.query("show ssl_key_file"))
      .toEqual([[`${join(folder, name)}.key`]]);
  };
  onTestFinished(async () => {
    await (await connectAdmin(server.url())).query("alter system reset all");
  });
  const [own, other] = [certify("own", "localhost"), certify("other", "elsewhere.example")];
  const urlWith = (file: string) =>
    `${server.url().replace("127.0.0.1", "localhost")}?sslmode=verify-full&sslrootcert=${file}`;

  expect(await codeOf({ url: urlWith(own) })).toBe("cannot_connect");
  await serveWith("own");
  const storage = await openStorage({ url: urlWith(own), schema: "tls" });
  expect((await storage.pets.create(rex)).isOk()).toBe(true);
  const encrypted = `select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid)
    where application_name = 'petstore'`;
  expect(await admin.query(encrypted)).toEqual([[true]]);
  await storage.close();
  expect(await codeOf({ url: urlWith(other) })).toBe("cannot_connect");
  await serveWith("other");
  expect(await codeOf({ url: urlWith(other) })).toBe("cannot_connect");
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
  // This name is also a word of SQL.
  const options = { url: server.url(), schema: "user" };
  const opened = await Promise.all([
    openStorage(options),
    openStorage(options),
    openStorage(options),
  ]);
  for (const storage of opened) await storage.close();
});
