import { readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { openStorage } from "./open-storage.js";
import { rex } from "../../../storage-sql/test/support/samples.js";

/** How many pets a sound database file holds. */
export function petsIn(file: string): number {
  const database = new Database(file, { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  const count = Number(database.prepare("select count(*) from pets").pluck().get());
  database.close();
  return count;
}

/** Adds a pet, and leaves it in the log of the database as a killed process does. Returns the log. */
export async function leaveLog(filename: string): Promise<Uint8Array> {
  const storage = await openStorage({ filename });
  (await storage.pets.create(rex))._unsafeUnwrap();
  const files = [filename, `${filename}-wal`].map((file) => [file, readFileSync(file)] as const);
  await storage.close();
  for (const [file, bytes] of files) writeFileSync(file, bytes);
  return readFileSync(`${filename}-wal`);
}
