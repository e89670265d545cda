import type { Creation, CreationRequest, Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";
import { commitsIn } from "./support/wal-commits.js";

const folder = useFolder();
let storage: Storage;
beforeEach(async () => {
  storage = await openStorage({ filename: folder.path("pets.db") });
});
afterEach(() => storage.close());

const request = (token: string, now = 1_000): CreationRequest => ({
  ...{ token, fingerprint: "of rex", now },
  expiresAt: now + 1_000,
});

async function createOnce(token: string, now?: number): Promise<Creation> {
  return (await storage.pets.createOnce(rex, request(token, now)))._unsafeUnwrap();
}

const rows = () =>
  new Database(folder.path("pets.db")).prepare("select count(*) from pet_creations").pluck().get();

it("pets and their tokens share one commit with plain creates of the same turn", async () => {
  const before = commitsIn(folder.path("pets.db-wal"));
  await Promise.all([
    ...Array.from({ length: 32 }, (_, index) => createOnce(`token ${index % 20}`)),
    storage.pets.create(rex),
  ]);
  expect(commitsIn(folder.path("pets.db-wal")) - before).toBe(1);
  expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(21);
  expect(rows()).toBe(20);
});

it("a commit that fails forgets both the pet and its token", async () => {
  const impossible = { ...rex, categoryId: 2n ** 63n };
  const failed = await storage.pets.createOnce(impossible, request("token"));
  expect(failed.isErr()).toBe(true);
  expect(rows()).toBe(0);
  expect((await createOnce("token")).replayed).toBe(false);
});

it("expired tokens are removed a few with each new one", async () => {
  await Promise.all(Array.from({ length: 100 }, (_, index) => createOnce(`old ${index}`)));
  for (let count = 1; count <= 50; count += 1) {
    await createOnce(`new ${count}`, 2_000);
    expect(rows()).toBe(100 - count);
  }
  expect(rows()).toBe(50);
});
