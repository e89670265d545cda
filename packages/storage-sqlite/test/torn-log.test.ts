import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sized, seed } from "../../../scripts/test-size.js";
import { openStorage } from "./open-storage.js";
import { firstPage, rex } from "./samples.js";
import { createFolder, type TemporaryFolder } from "./temporary-folder.js";

const COMMITS = 40;
const CUTS = sized(12, 80, 5_000);

let folder: TemporaryFolder;
let log: Buffer;
/** How long the log was after each commit of a pet. */
const ends: number[] = [];

beforeAll(async () => {
  folder = createFolder();
  const filename = folder.path("pets.db");
  const storage = await openStorage({ filename });
  for (let commit = 1; commit <= COMMITS; commit += 1) {
    const name = `pet ${commit}`.padEnd(commit % 7 === 0 ? 9_000 : 10, "x");
    (await storage.pets.create({ ...rex, name }))._unsafeUnwrap();
    ends.push(statSync(`${filename}-wal`).size);
  }
  // As a loss of power leaves it: the database was not closed.
  copyFileSync(filename, folder.path("torn.db"));
  log = readFileSync(`${filename}-wal`);
  await storage.close();
});
afterAll(() => folder.remove());

/** Opens the database with this log, and returns how many pets are there: always the first ones. */
async function petsWith(name: string, torn: Buffer): Promise<number> {
  mkdirSync(folder.path(name));
  const filename = folder.path(`${name}/pets.db`);
  copyFileSync(folder.path("torn.db"), filename);
  writeFileSync(`${filename}-wal`, torn);
  const storage = await openStorage({ filename });
  const { pets } = (await storage.pets.list(firstPage))._unsafeUnwrap();
  expect(pets.map((pet) => pet.id)).toEqual(pets.map((_, index) => BigInt(index + 1)));
  for (const pet of pets) expect(pet.name).toMatch(new RegExp(`^pet ${pet.id}x*$`));
  const next = (await storage.pets.create(rex))._unsafeUnwrap();
  expect(next.id).toBe(BigInt(pets.length + 1));
  await storage.close();
  const database = new Database(filename, { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  database.close();
  return pets.length;
}

/** A repeatable number from 0 to below `below`. */
function createRandom(): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

it(`a log that is cut anywhere holds every commit before the cut (${CUTS} cuts)`, async () => {
  const random = createRandom();
  const corners = ends.slice(-5).flatMap((end) => [end - 1, end, end + 1]);
  const anywhere = Array.from({ length: CUTS }, () => random(log.length));
  for (const cut of [0, 1, 31, 32, 33, ...corners, ...anywhere]) {
    const whole = ends.filter((end) => end <= cut).length;
    expect(await petsWith(`cut ${cut} ${random(1e9)}`, log.subarray(0, cut))).toBe(whole);
  }
}, 600_000);

it(`a log whose tail is damaged holds every commit before the damage (${CUTS} tails)`, async () => {
  const random = createRandom();
  for (let tail = 0; tail < CUTS; tail += 1) {
    const from = 32 + random(log.length - 32);
    const torn = Buffer.from(log);
    for (let flips = 0; flips < 8; flips += 1) {
      const at = flips === 0 ? from : from + random(log.length - from);
      torn[at] = (torn[at] ?? 0) ^ (1 + random(255));
    }
    const whole = ends.filter((end) => end <= from).length;
    expect(await petsWith(`tail ${tail}`, torn)).toBe(whole);
  }
}, 600_000);
