import { createPetStore, type Caller } from "@petstore/core";
import type { ResultAsync } from "neverthrow";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { sized } from "../../../../scripts/test-size.js";

/** Every which statement fails: each of them in CI. */
const STRIDE = sized(5, 1, 1);

const SAMPLE = new Database(":memory:").prepare("select 1");
const prototype = Object.getPrototypeOf(SAMPLE) as typeof SAMPLE;
/** How many statements ran, and which of them fails: none if it is 0. */
let [ran, failing] = [0, 0];
for (const name of ["run", "get", "all"] as const) {
  const real = Reflect.get(prototype, name) as (...values: unknown[]) => never;
  vi.spyOn(prototype, name).mockImplementation(function (this: typeof SAMPLE, ...values) {
    ran += 1;
    if (ran === failing) throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR");
    return Reflect.apply(real, this, values);
  });
}

/** The calls of a client, with the errors that they have anyway. */
const CALLS: readonly (readonly [(caller: Caller) => Outcome, error?: string])[] = [
  [(caller) => caller.createPet({ name: "one", categoryId: 1n })],
  [(caller) => caller.listPets({ limit: 2 })],
  [(caller) => caller.createPet({ name: "two", categoryId: 2n })],
  [(caller) => caller.getPet(2n)],
  [(caller) => caller.listPets({ status: "available", limit: 1 })],
  [(caller) => caller.getPet(999n), "pet_not_found"],
  [(caller) => caller.createPet({ name: "\0", categoryId: 1n }), "invalid_pet"],
  [(caller) => caller.listPets({ limit: 2 })],
];

type Outcome = ResultAsync<unknown, { readonly code: string }>;

/** Makes all calls while the nth statement fails. Resolves to how many statements ran. */
async function callWith(statement: number): Promise<number> {
  const storage = (await openSqliteStorage({ database: new Database(":memory:") }))._unsafeUnwrap();
  const store = createPetStore({ storage });
  const { secret } = (await store.keys.issue({ plan: "business" }))._unsafeUnwrap();
  const caller = store.as(secret);
  [ran, failing] = [0, statement];
  let failures = 0;
  for (const [call, expected] of CALLS) {
    let outcome = await call(caller);
    if (outcome.isErr() && outcome.error.code === "storage_unavailable") {
      failures += 1;
      // What failed once succeeds when it is repeated.
      outcome = await call(caller);
    }
    expect(outcome.isErr() ? outcome.error.code : undefined).toBe(expected);
  }
  const statements = ran;
  failing = 0;
  expect(failures).toBeLessThanOrEqual(statement > 0 && statement <= statements ? 1 : 0);
  const { pets } = (await store.trusted.listPets())._unsafeUnwrap();
  expect(pets.map(({ name }) => name)).toEqual(["one", "two"]);
  await store.close();
  return statements;
}

it("an SQLite statement that fails, whichever it is, fails one call or is repeated, and nothing else", async () => {
  const statements = await callWith(0);
  expect(statements).toBeGreaterThan(CALLS.length);
  for (let statement = 1; statement <= statements; statement += STRIDE) await callWith(statement);
});
