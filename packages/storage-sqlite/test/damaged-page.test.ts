import { expect, it } from "vitest";
import { createDamagedDatabase } from "./damaged-database.js";
import { openStorage } from "./open-storage.js";
import { firstPage } from "./samples.js";
import { createFolder } from "./temporary-folder.js";

it("a page that is damaged after opening fails only the calls that read it", async () => {
  const folder = createFolder();
  const filename = folder.path("pets.db");
  await createDamagedDatabase(filename);
  const storage = await openStorage({ filename });
  const pages = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      storage.pets.list({ ...firstPage, after: BigInt(100 * index) }),
    ),
  );
  const failures = pages.filter((page) => page.isErr());
  expect(failures[0]?._unsafeUnwrapErr().message).toBe(
    "Listing pets failed: the file is damaged (SQLITE_CORRUPT).",
  );
  expect(pages[0]?.isOk()).toBe(true);
  await storage.close();
  folder.remove();
});
