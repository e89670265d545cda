import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { burst, count, createClient } from "../support/client.js";
import { newDatabase, petstore } from "../support/command.js";

useBuiltPetstore();
const postgres = usePostgres();

const run = (...args: readonly string[]) => petstore(...args, "--database", postgres.url());

async function issueKey(...options: readonly string[]): Promise<string> {
  const { out } = await run("keys", "issue", "--json", ...options);
  const { secret } = JSON.parse(out) as { readonly secret: string };
  return secret;
}

it("two servers with workers on one database admit exactly the plan together", async () => {
  const secret = await issueKey("--plan", "free");
  const servers = await Promise.all([
    startServer("--database", postgres.url()),
    startServer("--database", postgres.url(), "--workers", "2"),
  ]);
  const clients = servers.map(({ url }) => createClient(url, 16));
  const replies = await burst(clients, [secret], 200);
  for (const client of clients) client.close();
  expect({ admitted: count(replies, 200), refused: count(replies, 429) }).toEqual({
    admitted: 60,
    refused: 140,
  });
  for (const server of servers) {
    expect(server.output()).toContain("database  postgres://petstore@127.0.0.1");
    expect(server.output()).not.toContain("correct-horse");
    expect(await server.end()).toBe(0);
  }
});

it("every other command works on the same database", async () => {
  const pets = `${newDatabase()}.ndjson`;
  writeFileSync(pets, '{"name":"Rex","categoryId":9223372036854775807}\n');
  expect(await run("pets", "import", pets)).toMatchObject({ code: 0 });
  expect((await run("pets", "export")).code).toBe(0);
  await issueKey("--plan", "pro", "--label", "acme");
  expect((await run("keys", "list")).out).toMatch(/acme +pro +0\/300/);
  expect((await run("migrate")).out).toMatch(/^the tables of postgres:.* are up to date$/);
  expect((await petstore("migrate", "--print")).out).toMatch(/^begin;[^]*create table/);
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
