import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createPetsClient } from "@petstore/client";
import { createManualClock, createMemoryStorage } from "@petstore/core";
import { storageError } from "@petstore/core/storage";
import Database from "better-sqlite3";
import { err } from "neverthrow";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { takenPort } from "../../../scripts/ports.js";
import { issueKey, newDatabase, petstore, serveHere, useServerHere } from "./support/command.js";
import { databaseWithKey, fillUpAfter } from "./support/command.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { inCi } from "../../../scripts/test-size.js";
import { watchWrites } from "../src/serve/health.js";

useBuiltPetstore();

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

const addingRex = (secret: string) => ({
  ...{ method: "POST", body: '{"name":"Rex","categoryId":9007199254740993}' },
  headers: { ...bearer(secret).headers, "content-type": "application/json" },
});

/** Starts a server, on a database with a key. Each function sends a request, and resolves to the status. */
async function serving(database = newDatabase(), start = serveHere, ...options: readonly string[]) {
  const { secret } = await issueKey(database);
  const server = await start("--database", database, ...options);
  const statusOf = async (path: string, init: RequestInit = bearer(secret)) =>
    (await fetch(server.url + path, init)).status;
  return {
    ...{ database, server },
    readiness: () => statusOf("/../readyz"),
    list: () => statusOf("/pets"),
    add: () => statusOf("/pets", addingRex(secret)),
  };
}

it("serve with --first-key prints a curl line that works, once, and keeps keys and pets after a restart", async () => {
  const database = newDatabase();
  const first = await serveHere("--database", database, "--first-key");
  await expect.poll(() => first.output()).toMatch(/curl .*\n\n/);
  const [, secret = "", url = ""] =
    /-H "Authorization: Bearer (.*?)" "(.*?)"/.exec(first.output()) ?? [];
  const created = await fetch(url, addingRex(secret));
  const pet = '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}';
  expect(await created.text()).toBe(pet);
  expect(created.headers.get("ratelimit")).toBeNull();
  expect([await first.end(), /petstore: .*/.exec(first.output())]).toEqual([0, null]);
  const second = await serveHere("--database", database, "--first-key");
  const listed = await fetch(`${second.url}/pets`, bearer(secret));
  expect(await listed.text()).toContain("9007199254740993");
  expect(listed.headers.get("x-ratelimit-remaining")).toBe("58");
  await second.end();
  expect(second.output()).not.toContain("curl");
  expect(second.output()).toContain(`database  ${database}\n`);
  expect((await petstore("keys", "list", "--database", database)).out).toContain(" first key ");
  writeFileSync(database, readFileSync(database).fill(255, 5 * 4_096));
  const damaged = await serveHere("--database", database, "--first-key");
  await expect.poll(damaged.output).toContain("no first key was issued: Listing API keys failed: ");
});

it("serve names the page, the database and the command for another key, which is accepted and refused at once", async () => {
  const database = newDatabase();
  const options = ["--keep-alive", "75", "--rate-limit-fields"];
  const { url, output } = await serveHere("--database", database, ...options);
  await expect.poll(output).toContain("new key");
  expect(output()).toContain(new URL("/docs", url).href);
  expect(output()).toContain(`database  ${database} (new)\n`);
  const [, args = ""] = /petstore (keys issue .*)\n/.exec(output()) ?? [];
  const issued = await petstore(...args.split(" "), "--json");
  const { id, secret } = JSON.parse(issued.out) as Awaited<ReturnType<typeof issueKey>>;

  const { status, headers } = await fetch(`${url}/pets`, bearer(secret));
  expect([status, headers.get("keep-alive")]).toEqual([200, "timeout=75"]);
  expect(headers.get("ratelimit")).toBe('"minute";r=59;t=60, "day";r=999;t=86400');
  const listed = await createPetsClient({ baseUrl: url, apiKey: secret }).listPets();
  expect(listed._unsafeUnwrap().quota.day.limit).toBe(1_000);
  expect(output()).not.toMatch(/\{|workers/);
  vi.stubEnv("npm_lifecycle_event", "start");
  const quoted = await serveHere("--database", database.replace("pets.db", "it's.db"));
  await expect.poll(quoted.output).toMatch(/node_modules\/\.bin\/petstore .*\/it'\\''s\.db'\n/);
  const memory = await serveHere("--database", ":memory:", "--cors=*", "--cors=http://b.example");
  const { headers: shared } = await fetch(memory.url, { headers: { origin: "https://a.example" } });
  expect(shared.get("access-control-allow-origin")).toBe("*");
  await expect.poll(memory.output).toContain("database  in memory: it ends with the server\n");
  await petstore("keys", "revoke", id, "--database", database);
  expect((await fetch(`${url}/pets`, bearer(secret))).status).toBe(401);
});

it("a shutdown delay: serves on after SIGTERM, not ready; workers too", async () => {
  const delay = inCi ? 3 : 1;
  const options = ["--shutdown-delay", String(delay), ...(inCi ? ["--workers", "2"] : [])];
  const start = inCi ? startServer : serveHere;
  const { server, list } = await serving(newDatabase(), start, ...options);
  const toldAt = performance.now();
  const ended = server.end();
  const ready = () => fetch(new URL("/readyz", server.url)).then((response) => response.text());
  await expect.poll(ready).toBe('{"status":"shutting down"}');
  expect([await list(), await ended]).toEqual([200, 0]);
  expect(performance.now() - toldAt).toBeGreaterThanOrEqual(delay * 1_000);
  await expect(fetch(server.url)).rejects.toThrow();
});

it("serve is not ready while another process holds the write lock, or no request can be charged, and is again after it", async () => {
  const { database, server, readiness, list } = await serving();
  const other = new Database(database);
  onTestFinished(() => void other.close());
  expect(await readiness()).toBe(200);
  other.exec("begin immediate");
  expect(await readiness()).toBe(503);
  expect(await (await fetch(new URL("/readyz", server.url))).text()).toContain("unavailable");
  other.exec("rollback");
  expect(await readiness()).toBe(200);
  // As on a full disk, a row that stays the same is not written.
  const changed = "(old.minute_used, old.banned_at) is not (new.minute_used, new.banned_at)";
  const full = `before update on api_key_usage when ${changed} begin select raise(abort, 'full'); end`;
  other.exec(`create trigger full ${full}`);
  expect([await list(), await list()]).toEqual([200, 503]);
  expect([await readiness(), await readiness()]).toEqual([503, 503]);
  other.exec("drop trigger full");
  expect([await readiness(), await list()]).toEqual([200, 200]);
  expect(await server.end()).toBe(0);
});

it("serve is not ready while pets cannot be stored or its database was removed, and reports failures of one kind once with their number", async () => {
  const { database } = await databaseWithKey();
  const full = fillUpAfter(database, 0);
  const { server, readiness, list, add } = await serving(database);
  expect(await readiness()).toBe(200);
  for (let count = 0; count < 10; count += 1) expect(await add()).toBe(503);
  expect(await readiness()).toBe(503);
  full.end();
  expect([await add(), await readiness()]).toEqual([201, 200]);
  rmSync(`${database}-shm`);
  await expect.poll(readiness).toBe(503);
  await expect.poll(server.output).toContain("petstore: All calls fail");
  expect([await add(), await add(), await list()]).toEqual([503, 503, 503]);
  expect(await server.end()).toBe(0);
  expect(server.output().match(/petstore: .*\n/g)).toEqual([
    expect.stringMatching(/^petstore: Adding a pet failed: .*\n$/),
    expect.stringMatching(/^petstore: All calls fail .* was removed or replaced\.\n$/),
    expect.stringMatching(/^petstore: Adding a pet failed: .* \(9 more\)\n$/),
    expect.stringMatching(/^petstore: All calls fail .* replaced\. \(\d more\)\n$/),
  ]);
});

it("serve is not ready while pets cannot be listed, or for ten seconds after one could not be added", async () => {
  const failing = () => Promise.resolve(err(storageError("no disk")));
  const { pets, ...memory } = createMemoryStorage();
  const clock = createManualClock();
  const unlisted = { ...memory, pets: { ...pets, list: failing } };
  expect(await watchWrites(unlisted, clock).isReady()).toBe(false);
  const full = { ...memory, pets: { ...pets, create: failing, createOnce: failing } };
  for (const name of ["create", "createOnce"] as const) {
    const { storage, isReady } = watchWrites(full, clock);
    expect(await isReady()).toBe(true);
    await storage.pets[name]({ name, categoryId: 1n, status: "sold" }, undefined as never);
    clock.advance(9_999);
    expect(await isReady()).toBe(false);
    clock.advance(name === "create" ? 1 : -86_400_000);
    expect(await isReady()).toBe(true);
  }
});

it("serve says in one line why it cannot start, with exit code 1, and so does the console", async () => {
  const port = String(await takenPort());
  const inUse = `petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use`;
  const { database } = await databaseWithKey();
  const here = ["--database", database];
  const nowhere = ["--database", "/nowhere/pets.db"];
  const cannotUse = /^petstore: cannot use the database \/nowhere\/pets\.db: .+$/;
  const alone = "petstore: processes cannot share a database in memory: --workers needs a file";
  for (const [error, ...args] of [
    [inUse, "serve", "--port", port, ...here],
    [inUse, "serve", "--metrics", port, "--port", "0", ...here],
    [inUse.replace("127", "::ffff:127"), "serve", `--metrics=[::ffff:127.0.0.1]:${port}`, ...here],
    [inUse.replace("127.0.0.1", "localhost"), "serve", `--metrics=localhost:${port}`, ...here],
    [expect.stringMatching(/1 port 0: (?!the)/), "serve", "--host=240.0.0.1", "--port=0", ...here],
    [inUse, "console", "--no-open", "--port", port, ...here],
    [alone, "serve", "--workers", "2", "--database", ":memory:"],
    [expect.stringMatching(cannotUse), "serve", ...nowhere],
    ["petstore: there is no database /nowhere/pets.db", "console", "--no-open", ...nowhere],
    [expect.stringContaining("must be a URL"), "console", "--no-open", "--base-url", "ftp://x"],
  ] as [unknown, ...string[]][])
    expect(await petstore(...args)).toEqual({ code: 1, out: "", error });
});

/** How many requests the client address of a request without a key has left; a new one has 59. */
async function left(url: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const response = await fetch(`${url}/pets`, { headers });
  expect(response.status).toBe(401);
  return Number(response.headers.get("x-ratelimit-remaining"));
}

describe("serve --trust-proxy", () => {
  const proxies = ["127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8"];
  const server = useServerHere("--host", "::", "--trust-proxy", ...proxies);

  it("takes the last address that is not a proxy, or the peer", async () => {
    const { url } = server();
    expect(url).toContain("//127.0.0.1:");
    const client = "203.0.113.7";
    for (const [expected, header, from = url] of [
      [59, client],
      [58, `198.51.100.1, ${client}`],
      [57, `nonsense,${client} , 10.1.2.3`],
      [56, `::ffff:${client}, ::ffff:10.1.2.3, fd12::1`],
      [55, client, url.replace("127.0.0.1", "[::1]")],
      [54, `${client}:50001, 10.1.2.3:443`],
      [59, "203.0.113.8"],
      [59, "2001:db8::1, 10.1.2.3"],
      [58, "2001:db8::2"],
      [57, "[2001:db8::3]:443, [fd12::1]"],
      [59, "10.0.0.5, 10.1.2.3"],
      [59, undefined],
      [58, "unknown"],
      [57, "203.0.113.7, x"],
      [56, ","],
    ] as const)
      expect(await left(from, header), header).toBe(expected);
  });

  it.runIf(inCi).each([
    ["does not read the header of a peer that is not a proxy", "10.0.0.1", 58],
    ["knows the addresses of IPv4 as IPv6 writes them", "::ffff:127.0.0.0/104", 59],
  ])("%s", async (_, trusted, next) => {
    const { url } = await serveHere("--database", ":memory:", "--trust-proxy", trusted);
    expect([await left(url, "203.0.113.7"), await left(url, "203.0.113.8")]).toEqual([59, next]);
  });
});
