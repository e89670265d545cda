import { createMemoryStorage, type Storage } from "@petstore/core";
import { ok } from "neverthrow";
import { openStorage } from "../open-storage.js";
import { createFolder } from "../temporary-folder.js";

/** Where several engines, each as if in a process of its own, find the same keys. */
export interface Place {
  /** One more process's way to what is kept here. */
  open(): Promise<Storage>;
  remove(): void;
}

/** The places on which every promise about limits is tried. */
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
