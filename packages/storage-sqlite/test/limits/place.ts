import { createMemoryStorage, type Storage } from "@petstore/core";
import { ok } from "neverthrow";
import { openStorage } from "../support/open-storage.js";
import { createFolder } from "../support/temporary-folder.js";

/** Where several engines, which stand for processes, share the same keys. */
export interface Place {
  /** Opens a storage on this place for one more process. */
  open(): Promise<Storage>;
  remove(): void;
}

/** The places on which the limits are tested. */
export const places: readonly (readonly [string, () => Place])[] = [
  ["memory", createMemoryPlace],
  ["SQLite", createSqlitePlace],
];

function createMemoryPlace(): Place {
  const storage = createMemoryStorage();
  return {
    // It outlives the engines on it, as a file does.
    open: () => Promise.resolve({ ...storage, close: () => Promise.resolve(ok()) }),
    remove: () => undefined,
  };
}

function createSqlitePlace(): Place {
  const folder = createFolder();
  return {
    open: () => openStorage({ filename: folder.path("pets.db") }),
    remove: () => folder.remove(),
  };
}
