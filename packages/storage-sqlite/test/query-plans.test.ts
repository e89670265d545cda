import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { observe } from "./support/observe.js";
import { openStorage } from "./support/open-storage.js";
import { rex } from "../../storage-sql/test/support/samples.js";

it("pages of a status and of banned keys, and expired creations, are found without a scan of other rows", async () => {
  const database = new Database(":memory:");
  const ran = new Set<string>();
  observe(database, (source) => ran.add(source));
  const { pets, keys } = await openStorage({ database });
  ran.clear();
  await pets.list({ limit: 9, status: "sold", after: 1n });
  await keys.list({ limit: 9, after: "a", banned: true });
  await pets.createOnce(rex, { token: "", fingerprint: "", now: 1, expiresAt: 2 });
  // Planned as they are prepared, before any value is known.
  const steps = [...ran].flatMap((source) => {
    const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${source}`);
    return plan.all(Array(source.split("?").length - 1).fill(null)).map(({ detail }) => detail);
  });
  database.close();
  expect(steps).toContain("SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)");
  expect(steps).toContain("SEARCH api_key_usage USING INDEX api_key_usage_banned (key_id>?)");
  expect(steps.filter((step) => /SCAN (?:api_key|pet_creation)|TEMP/.test(step))).toEqual([]);
});
