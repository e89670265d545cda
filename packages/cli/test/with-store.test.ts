import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { openStore, withStore } from "../src/with-store.js";
import { newDatabase } from "./support/command.js";

it("closes the store also when its use throws", async () => {
  const database = newDatabase();
  const used = withStore(openStore(database), () => {
    throw new Error("a defect");
  });
  await expect(used).rejects.toThrow("a defect");
  // The last connection that is closed takes the write-ahead log with it.
  expect(existsSync(`${database}-wal`)).toBe(false);
});
