// The engine in this process.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { repeatBy } from "./turns.js";

/** @import { PetStore, RateLimits } from "@petstore/core" */
/** @typedef {{ "core": typeof import("@petstore/core"), "storage-sqlite": typeof import("@petstore/storage-sqlite") }} Builds */
/** @import { SqliteStorageOptions } from "@petstore/storage-sqlite" */

const UNLIMITED = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };

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
 * Adds pets until there are so many; `statusOf` gets their number.
 * @param {PetStore} store
 * @param {number} wanted
 * @param {number} [present]
 * @param {(index: number) => import("@petstore/core").PetStatus} [statusOf]
 */
export async function fill(store, wanted, present = 0, statusOf = () => "available") {
  await repeatBy(1_000, async (index) => {
    const pet = { name: `pet ${present + index}`, categoryId: index % 50, status: statusOf(index) };
    const added = await store.trusted.createPet(pet);
    if (added.isErr()) throw new Error(added.error.message);
  })(wanted - present);
}

/**
 * Opens a storage by the build without some text, or with another one instead.
 * @param {SqliteStorageOptions} options
 * @param {string} text
 * @param {string} [instead]
 */
export async function openWithout(options, text, instead) {
  const { openSqliteStorage: open } = await buildWithout("storage-sqlite", text, instead);
  return openStorage(options, open);
}

/**
 * Imports the build of a package without some text, or with another one instead: there is no other way to be without
 * what it does.
 * @template {keyof Builds} Name
 * @param {Name} name
 * @param {string} text
 * @param {string} [instead]
 * @returns {Promise<Builds[Name]>}
 */
export async function buildWithout(name, text, instead = "") {
  const build = new URL(`../../packages/${name}/dist/`, import.meta.url);
  const read = (/** @type {string} */ file) => readFileSync(new URL(file, build), "utf8");
  const built = readdirSync(build).filter((file) => file.endsWith(".js"));
  const file = built.find((each) => read(each).includes(text));
  if (file === undefined) throw new Error(`no such text in the build: ${text}`);
  // A module is imported only once from one address.
  const id = randomUUID();
  const copyOf = (/** @type {string} */ each) => new URL(`without-${id}-${each}`, build);
  writeFileSync(copyOf("index.js"), read("index.js").replaceAll(`./${file}`, copyOf(file).href));
  writeFileSync(copyOf(file), read(file).replace(text, instead));
  try {
    return await import(copyOf("index.js").href);
  } finally {
    for (const each of new Set(["index.js", file])) rmSync(copyOf(each));
  }
}
