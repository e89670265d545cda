import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";

/** The statuses of twenty pets in a row: most are available, few are sold. */
const STATUSES = Array.from({ length: 20 }, (_, index) =>
  index === 19 ? "sold" : index > 15 ? "pending" : "available",
);

/**
 * Opens a store on a file.
 * @param {string} filename
 */
export async function openStore(filename) {
  const opened = await openSqliteStorage({ filename });
  if (opened.isErr()) throw new Error(opened.error.message);
  return createPetStore({ storage: opened.value });
}

/**
 * Adds pets until there are so many.
 * @param {Awaited<ReturnType<typeof openStore>>} store
 * @param {number} present
 * @param {number} wanted
 */
export async function fill(store, present, wanted) {
  for (let from = present; from < wanted; from += 1_000) {
    const pets = Array.from({ length: 1_000 }, (_, index) => ({
      name: `pet ${from + index}`,
      categoryId: index % 50,
      status: /** @type {"available" | "pending" | "sold"} */ (STATUSES[index % 20]),
    }));
    const added = await Promise.all(pets.map((pet) => store.trusted.createPet(pet)));
    for (const each of added) if (each.isErr()) throw new Error(each.error.message);
  }
}
