import { createPetStore } from "@petstore/core";
import { openPostgresStorage } from "@petstore/storage-postgres";

/** @import { Database } from "./database.js" */

/**
 * Fills the store's tables and those of the floor with the same pets.
 * @param {Database} database
 * @param {number} pets
 * @param {number} keys
 * @returns {Promise<readonly string[]>} the secrets of keys whose limits are never reached
 */
export async function seed(database, pets, keys) {
  const store = createPetStore({ storage: await openStorage(database.url) });
  const limits = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
  const secrets = await Promise.all(
    Array.from({ length: keys }, async () => {
      const issued = await store.keys.issue({ plan: "enterprise", limits });
      if (issued.isErr()) throw new Error(issued.error.message);
      return issued.value.secret;
    }),
  );
  await store.close();
  await fill(database, "petstore", pets);
  const values = `'pet ' || n, n % 50, 'available' from generate_series(1, ${pets}) as n`;
  for (const statement of [
    `create table floor_pets (id bigserial primary key, name text not null, category_id bigint not null, status text not null)`,
    `insert into floor_pets (name, category_id, status) select ${values}`,
    "vacuum analyze",
    "checkpoint",
  ])
    await database.query(statement);
  return secrets;
}

/**
 * Fills the pets of a schema that the storage has made.
 * @param {Database} database
 * @param {string} schema
 * @param {number} pets
 */
export async function fill(database, schema, pets) {
  await database.query(
    `insert into ${schema}.pets (id, name, category_id, status)
     select n, 'pet ' || n, n % 50, 'available' from generate_series(1, ${pets}) as n`,
  );
  await database.query(`update ${schema}.inventory set last_id = ${pets}, edits = edits + 1`);
  await database.query(`vacuum analyze ${schema}.pets`);
}

/**
 * @param {string} url
 * @param {string} [schema]
 */
export async function openStorage(url, schema = "petstore") {
  const opened = await openPostgresStorage({ url, schema });
  if (opened.isErr()) throw new Error(opened.error.message, { cause: opened.error.cause });
  return opened.value;
}
