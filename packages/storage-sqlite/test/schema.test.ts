import { petFilters } from "@petstore/core/internal";
import { petColumns } from "@petstore/storage-sql";
import Database from "better-sqlite3";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { createConnection } from "../src/database/connection.js";
import { migrate, migrations } from "../src/migrations/migrate.js";
import type { Migration } from "../src/migrations/migration.js";
import { observe } from "./support/observe.js";
import { openStorage, rex, times, WRONG_CHANGES } from "./support/storage.js";

const addsColumn: Migration = {
  name: "adds a column",
  breaking: false,
  statements: [sql`alter table pets add column colour text`],
};
const fails: Migration = {
  name: "fails half-way",
  breaking: true,
  statements: [sql`alter table pets add weight integer`, sql`insert into nothing values (1)`],
};

let database: Database.Database;
beforeEach(() => void (database = new Database(":memory:")));

function connect() {
  const nothing = () => undefined;
  const check = { beforeTransaction: nothing, beforeFullCommit: nothing };
  const options = { isShared: false, check, afterCommit: nothing };
  return createConnection(database, { ...options, marked: "FULL" });
}
const migrateTo = (...steps: readonly Migration[]) => migrate(connect(), steps);
const rows = (table: string) => database.prepare(`select * from ${table}`).all();
/** As databases of before 1.0 were. */
const WITHOUT_BREAKING = "alter table petstore_migrations drop column breaking";
const recorded = () => database.prepare("select number from petstore_migrations").pluck().all();

it("the schema is migrated once from version 1, keeps pets and usage, and is unchanged when a migration fails", async () => {
  migrateTo(...migrations.slice(0, 1));
  database.exec(`${WITHOUT_BREAKING};
    insert into pets (name, category_id, status) values ('Rex', 7, 'sold');
    insert into api_keys values ('a', 'free', 60, 1000, null, 1, null, null);
    insert into api_key_usage values ('a', 1, 2, 3, 4, 5, 6, 7, 8);`);
  const pet = { id: 1, name: "Rex", category_id: 7, status: "sold" };
  expect(() => migrateTo(...migrations, addsColumn, fails)).toThrow("nothing");
  expect([recorded(), rows("pets"), database.inTransaction]).toEqual([[1], [pet], false]);
  for (const change of ["pets_revision set only = 2", ...WRONG_CHANGES])
    expect(() => database.exec(`update ${change}`), change).toThrow("CHECK");
  for (let opened = 0; opened < 2; opened += 1) migrateTo(...migrations, addsColumn);
  expect(recorded()).toEqual(times(migrations.length + 1, (index) => index + 1));
  expect(rows("pets")).toMatchObject([{ ...pet, colour: null }]);
  const counts = { minuteOpenedAt: 1, minuteUsed: 2, dayOpenedAt: 3, dayUsed: 4 };
  const bans = { refusals: 5, bans: 6, bannedAt: 7, lastUsedAt: 8, refusedSince: 0 };
  const { keys } = await openStorage({ database });
  expect((await keys.find("a"))._unsafeUnwrap()?.usage).toEqual({ ...counts, ...bans });
  const breaking = database.prepare("select breaking from petstore_migrations").pluck();
  expect(breaking.all()).toEqual([...migrations, addsColumn].map((each) => Number(each.breaking)));
});

it("a query that selects its columns in another order is refused", () => {
  const prepare = () => connect().select(["id", "at"], () => sql`select 1 as at, 2 as id`);
  expect(prepare).toThrow(TypeError);
});

it("pages of each filter and of banned keys, and expired creations, are found without a scan of other rows", async () => {
  const ran = new Set<string>();
  observe(database, (source) => ran.add(source));
  const { pets, keys } = await openStorage({ database });
  ran.clear();
  for (const field of petFilters) await pets.list({ limit: 9, after: 1n, [field]: rex[field] });
  await keys.list({ limit: 9, after: "a", banned: true });
  await pets.createOnce(rex, { token: "", fingerprint: "", now: 1, expiresAt: 2 });
  const steps = [...ran].flatMap((source) => {
    const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${source}`);
    return plan.all(Array(source.split("?").length - 1).fill(null)).map(({ detail }) => detail);
  });
  for (const { column } of petFilters.map((field) => petColumns[field]))
    expect(steps).toContainEqual(
      expect.stringMatching(
        new RegExp(`^SEARCH main\\.pets USING INDEX \\w+ \\(${column}=\\? AND rowid>\\?\\)$`),
      ),
    );
  expect(steps).toContain("SEARCH main.api_key_usage USING INDEX api_key_usage_banned (key_id>?)");
  expect(steps.filter((step) => /SCAN main\.(?:api_key|pet_creation)|TEMP/.test(step))).toEqual([]);
});
