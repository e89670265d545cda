import { expect, it } from "vitest";
import type { PetStore } from "@petstore/core";
import { issueKey, withDatabase } from "../support/command.js";
import { openBeside } from "../support/open-beside.js";

it("petstore keys shows label, plan, times, usage in both windows and a ban, which outlives the server, and lifts it", async () => {
  const { database, run, json } = withDatabase();
  const limits = ["--per-minute", "3", "--per-day", "50"];
  const named = ["--label", "hammer", "--expires", "2099-01-01"];
  const { id, secret } = await issueKey(database, "--plan", "enterprise", ...limits, ...named);
  const outcome = async (store: PetStore) => {
    const listed = await store.as(secret).listPets();
    return listed.isOk() ? listed.value.quota.remaining : listed.error.code;
  };

  const server = await openBeside(database, { ban: { graceSeconds: 0 } });
  const outcomes = [];
  for (let sent = 0; sent < 7; sent += 1) outcomes.push(await outcome(server));
  const refused = Array<string>(3).fill("rate_limit_exceeded");
  expect(outcomes).toEqual([2, 1, 0, ...refused, "api_key_banned"]);

  const time = expect.any(Number) as number;
  // During a ban, nothing is left.
  const usedUp = (limit: number) => ({ limit, remaining: 0, resetAt: time });
  const expected = {
    ...{ id, label: "hammer", plan: "enterprise", limits: { perMinute: 3, perDay: 50 } },
    ...{ createdAt: time, lastUsedAt: time, expiresAt: Date.parse("2099-01-01T00:00Z") },
    ...{ revokedAt: null, bannedUntil: time },
    usage: { minute: usedUp(3), day: usedUp(50) },
  };
  expect(await json("keys", "find", id)).toMatchObject(expected);
  expect(await json("keys", "list", "--banned")).toMatchObject([expected]);
  const [head, row, ...more] = (await run("keys", "list")).out.split("\n");
  expect(head).toMatch(/LABEL +PLAN +MINUTE +DAY +CREATED .*LAST USED .*EXPIRES .*STATE$/);
  const day = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
  const shown = `^${id} .* hammer +enterprise +3/3 +50/50 +${day} +${day} +2099-01-01 00:00`;
  expect(row).toMatch(new RegExp(`${shown} +banned until ${day}:\\d\\d UTC$`));
  expect(more).toEqual([]);

  await server.close();
  const again = await openBeside(database);
  expect(await outcome(again)).toBe("api_key_banned");
  expect((await run("keys", "lift-ban", id)).out).toMatch(/ active$/);
  expect(await json("keys", "list", "--banned")).toEqual([]);
  // The usage is kept; another plan raises the limit.
  await run("keys", "change-plan", id, "pro");
  expect(await outcome(again)).toBe(300 - 4);
});
