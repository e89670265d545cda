// The engine in this process.
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { repeatBy } from "./turns.js";

/** @import { PetStore, RateLimits } from "@petstore/core" */
/** @import { SqliteStorageOptions } from "@petstore/storage-sqlite" */

export const UNLIMITED = { perMinute: 2 ** 40, perDay: 2 ** 40 };

/**
 * Opens a storage, by this build or another one.
 * @param {SqliteStorageOptions} options
 * @param {typeof openSqliteStorage} [open]
 */
export async function openStorage(options, open = openSqliteStorage) {
  const opened = await open(options);
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
}

/** @param {string} filename */
export async function openStore(filename) {
  return createPetStore({ storage: await openStorage({ filename }) });
}

/** Issues a key, and returns its secret. @param {PetStore} store @param {RateLimits} [limits] */
export async function issue({ keys }, limits = UNLIMITED) {
  const issued = await keys.issue({ plan: "enterprise", limits });
  if (issued.isErr()) throw new Error(issued.error.message);
  return issued.value.secret;
}

/**
 * Adds pets until there are so many; of twenty, most are available and one is sold.
 * @param {PetStore} store
 * @param {number} wanted
 * @param {number} [present]
 */
export async function fill(store, wanted, present = 0) {
  await repeatBy(1_000, async (index) => {
    const turn = index % 20;
    const status = turn === 19 ? "sold" : turn > 15 ? "pending" : "available";
    const pet = { name: `pet ${present + index}`, categoryId: index % 50, status };
    const added = await store.trusted.createPet(/** @type {never} */ (pet));
    if (added.isErr()) throw new Error(added.error.message);
  })(wanted - present);
}

/**
 * Runs with the build of a package without a line, where there is no other way to be without what it does.
 * @template T
 * @param {string} name of the package
 * @param {string} line
 * @param {(href: string) => Promise<T>} use gets the address of the changed build
 * @returns {Promise<T>}
 */
export async function withoutLine(name, line, use) {
  const build = new URL(`../../packages/${name}/dist/index.js`, import.meta.url);
  const built = readFileSync(build, "utf8");
  if (!built.includes(line)) throw new Error(`no such line in the build of ${name}: ${line}`);
  // A module is imported only once from one address.
  const changed = new URL(`without-a-line-${randomUUID()}.js`, build);
  writeFileSync(changed, built.replace(line, ""));
  try {
    return await use(changed.href);
  } finally {
    rmSync(changed);
  }
}
