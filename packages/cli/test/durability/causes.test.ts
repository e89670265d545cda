import Database from "better-sqlite3";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { describe, expect, it } from "vitest";
import { newDatabase } from "../support/command.js";
import { serveInProcess, unlimitedKeyOf } from "../support/in-process.js";
import { watchRejections } from "../support/unhandled-rejections.js";

/** A cause of failure. `begin` returns a function that removes it. */
interface Cause {
  readonly begin: (database: Database.Database, filename: string) => () => void;
}

const causes: readonly (readonly [string, Cause])[] = [
  [
    "the disk is full",
    {
      begin: (database) => {
        const pages = String(database.pragma("page_count", { simple: true }));
        database.pragma(`max_page_count = ${pages}`);
        return () => database.pragma("max_page_count = 1000000");
      },
    },
  ],
  [
    "the database is read-only",
    {
      begin: (database) => {
        database.pragma("query_only = on");
        return () => database.pragma("query_only = off");
      },
    },
  ],
  [
    "another connection holds the write lock",
    {
      begin: (_, filename) => {
        const other = new Database(filename);
        other.exec("begin immediate");
        return () => other.close();
      },
    },
  ],
  [
    "the host is in the middle of a transaction of its own",
    {
      begin: (database) => {
        database.exec("begin");
        return () => database.exec("rollback");
      },
    },
  ],
];

const rejections = watchRejections();

describe.each(causes)("while %s", (_, { begin }) => {
  it("a create is a 503 that stores nothing, and a 201 again afterwards", async () => {
    const filename = newDatabase();
    const database = new Database(filename, { timeout: 2 });
    const storage = await openSqliteStorage({ database, lockTimeoutSeconds: 0.05 });
    const { url, store } = await serveInProcess(storage._unsafeUnwrap());
    const secret = await unlimitedKeyOf(store);
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const add = (name: string): Promise<Response> => {
      const body = JSON.stringify({ name, categoryId: 1 });
      return fetch(`${url}/pets`, { method: "POST", headers, body });
    };
    // Longer than a page, so that it needs room.
    const big = "x".repeat(20_000);
    expect((await add(big)).status).toBe(201);

    const end = begin(database, filename);
    const refused = await Promise.all([add(big), add(big), add(big)]);
    for (const response of refused) {
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ code: "storage_unavailable", status: 503 });
    }
    end();

    await expect.poll(async () => (await add("new")).status).toBe(201);
    const listed = (await (await fetch(`${url}/pets`, { headers })).json()) as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual([big, "new"]);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(rejections).toEqual([]);
    await store.close();
    database.close();
  });
});
