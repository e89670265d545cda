import type { ResultAsync } from "neverthrow";
import type { Storage, StorageFailure } from "@petstore/core";
import { aKey, aPet } from "../samples.js";

type Call = () => ResultAsync<unknown, StorageFailure>;

/** A call of every member of the port but `close`. */
export function everyCall({ pets, keys, usage }: Storage): readonly Call[] {
  return [
    () => pets.create(aPet()),
    () => pets.createAll([aPet()]),
    () => pets.createAll([]),
    () => pets.find(1n),
    () => pets.list({ limit: 1, status: undefined, after: undefined }),
    () => keys.insert(aKey("another")),
    () => keys.find("a"),
    () => keys.list({ limit: 1, after: undefined, banned: false }),
    () => keys.update("a", () => ({ result: 1 })),
    () => usage.charge("digest of a", () => ({ result: 1 })),
    () => usage.update("a", () => ({ result: 1 })),
  ];
}
