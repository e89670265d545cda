import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { observe } from "./support/observe.js";
import { openStorage } from "./support/open-storage.js";

it("banned keys are listed by their index, without a scan of the other keys", async () => {
  const database = new Database(":memory:");
  onTestFinished(() => void database.close());
  const ran: string[] = [];
  observe(database, (source) => ran.push(source));
  const storage = await openStorage({ database });
  ran.length = 0;
  const listed = await storage.keys.list({ limit: 9, after: "a", banned: true });
  expect(listed._unsafeUnwrap()).toEqual([]);
  const [query] = ran.filter((source) => source.includes("api_key_usage"));
  // Planned as it is prepared, before any value is known.
  const steps = database
    .prepare<unknown[], { detail: string }>(`explain query plan ${query ?? ""}`)
    .all("a", 9);
  expect(steps.map(({ detail }) => detail)).toEqual([
    "SEARCH api_key_usage USING INDEX api_key_usage_banned (key_id>?)",
    "SEARCH api_keys USING PRIMARY KEY (id=?)",
  ]);
});
