import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { newDatabase, petstore } from "../support/command.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { createClient } from "../support/client.js";

useBuiltPetstore();

const PER_MINUTE = 3;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

interface KeyJson {
  readonly id: string;
  readonly secret: string;
  readonly bannedUntil: string | null;
}

async function keys(database: string, ...args: readonly string[]): Promise<string> {
  const { code, out, error } = await petstore("keys", ...args, "--database", database);
  expect({ code, error: error.replace(/^petstore: new database .*$/, "") }).toEqual({
    code: 0,
    error: "",
  });
  return out;
}

/** A server, and a key that a client of it has hammered until it was banned. */
async function hammeredKey() {
  const database = newDatabase();
  const limits = ["--per-minute", String(PER_MINUTE), "--per-day", "50"];
  const named = ["--label", "hammer", "--expires", "2099-01-01"];
  const issued = await keys(
    database,
    "issue",
    "--plan",
    "enterprise",
    ...limits,
    ...named,
    "--json",
  );
  const { id, secret } = JSON.parse(issued) as KeyJson;
  const server = await startServer("--database", database);
  const client = createClient(server.url, 1);
  onTestFinished(() => client.close());
  const statuses: unknown[] = [];
  for (let sent = 0; sent < 2 * PER_MINUTE + 2; sent += 1) {
    statuses.push((await client.list(secret)).status);
    // Refusals count once the first one is more than a second old.
    if (sent === PER_MINUTE) await setTimeout(1_010);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
  return { database, server, id, secret };
}

describe("petstore keys, beside a server that banned a key", () => {
  it("shows label, plan, times, usage in both windows and the ban, which outlives the server, and lifts it", async () => {
    const { database, server, id, secret } = await hammeredKey();
    const time = expect.stringMatching(TIME) as string;
    const expected = {
      id,
      label: "hammer",
      plan: "enterprise",
      limits: { perMinute: PER_MINUTE, perDay: 50 },
      createdAt: time,
      lastUsedAt: time,
      expiresAt: "2099-01-01T00:00:00.000Z",
      revokedAt: null,
      bannedUntil: time,
      usage: {
        minute: { limit: 3, remaining: 0, resetAt: time },
        day: { limit: 50, remaining: 47, resetAt: time },
      },
    };
    expect(JSON.parse(await keys(database, "show", id, "--json"))).toMatchObject(expected);
    expect(JSON.parse(await keys(database, "list", "--banned", "--json"))).toMatchObject([
      expected,
    ]);

    const [head, row, ...more] = (await keys(database, "list")).split("\n");
    expect(head).toMatch(/LABEL +PLAN +MINUTE +DAY +CREATED .*LAST USED .*EXPIRES .*STATE$/);
    const day = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
    expect(row).toMatch(
      new RegExp(
        `^${id} .* hammer +enterprise +3/3 +3/50 +${day} +${day} +2099-01-01 00:00 +banned until ${day}:\\d\\d UTC$`,
      ),
    );
    expect(more).toEqual([]);

    await server.end();
    const shown = JSON.parse(await keys(database, "show", id, "--json")) as KeyJson;
    expect(shown.bannedUntil).toMatch(TIME);
    const again = await startServer("--database", database);
    const client = createClient(again.url, 1);
    onTestFinished(() => client.close());
    expect((await client.list(secret)).status).toBe(429);

    expect(await keys(database, "unban", id)).toMatch(/ active$/);
    expect(await keys(database, "list", "--banned", "--json")).toBe("[]");
    // The usage is kept; another plan raises the limit.
    await keys(database, "plan", id, "pro");
    expect(await client.list(secret)).toMatchObject({ status: 200, remaining: 300 - 4 });
  });
});
