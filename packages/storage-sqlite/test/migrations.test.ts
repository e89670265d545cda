import Database from "better-sqlite3";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { createConnection } from "../src/database/connection.js";
import { times } from "../../storage-sql/test/support/samples.js";
import { migrate, migrations, type Migration } from "../src/tables/migrations.js";

const NEWEST = migrations.length;
const numbers = (last: number) => times(last, (index) => index + 1);

const addsColumn: Migration = {
  number: NEWEST + 1,
  name: "adds a column",
  statements: (schema) => [schema.alterTable("pets").addColumn("colour", "text")],
};
const fails: Migration = {
  number: NEWEST + 2,
  name: "fails half-way",
  statements: (schema) => [
    schema.alterTable("pets").addColumn("weight", "integer"),
    sql`insert into a_table_that_is_not_there values (1)`,
  ],
};

let database: Database.Database;
beforeEach(() => {
  database = new Database(":memory:");
});

function migrateTo(...steps: readonly Migration[]): void {
  const nothing = () => undefined;
  const check = { beforeTransaction: nothing, beforeFullCommit: nothing };
  const afterCommit = () => undefined;
  migrate(createConnection(database, { isShared: false, check, afterCommit }), steps);
}
const recorded = () => database.prepare("select number from petstore_migrations").pluck().all();
const columns = () =>
  database.prepare("select name from pragma_table_info('pets') order by cid").pluck().all();

describe("the schema", () => {
  it("has migrations with numbers from 1 without gaps", () => {
    expect(migrations.map(({ number }) => number)).toEqual(numbers(NEWEST));
  });

  it("is migrated once from version 1, and keeps pets, keys and their usage", () => {
    migrateTo(...migrations.slice(0, 1));
    database.exec(`
      insert into pets (name, category_id, status) values ('Rex', 7, 'sold');
      insert into api_keys values ('a', 'free', 60, 1000, null, 1, null, null);
      insert into api_key_usage values ('a', 1, 2, 3, 4, 5, 6, 7, 8);`);
    for (let opened = 0; opened < 2; opened += 1) migrateTo(...migrations, addsColumn);
    expect(recorded()).toEqual(numbers(NEWEST + 1));
    expect(columns()).toContain("colour");
    expect(database.prepare("select * from pets").all()).toMatchObject([{ id: 1, name: "Rex" }]);
    expect(database.prepare("select * from api_key_usage").all()).toEqual([
      {
        ...{ key_id: "a", minute_opened_at: 1, minute_used: 2, day_opened_at: 3, day_used: 4 },
        ...{ refusals: 5, bans: 6, banned_at: 7, last_used_at: 8, refused_since: 0 },
      },
    ]);
  });

  it("is unchanged when a migration fails", () => {
    migrateTo(...migrations);
    expect(() => migrateTo(...migrations, addsColumn, fails)).toThrow();
    expect(recorded()).toEqual(numbers(NEWEST));
    expect(columns()).toEqual(["id", "name", "category_id", "status"]);
    expect(database.inTransaction).toBe(false);
  });
});
