// Run by restart.test.ts: charges a key and creates pets until it is killed, and sends each id.
import { openStorage } from "./support/open-storage.js";
import { chargeOnce, rex, times } from "../../storage-sql/test/support/samples.js";

const [, , url = "", schema = ""] = process.argv;
const storage = await openStorage({ url, schema });
await Promise.all(
  times(4, async () => {
    for (;;) {
      await chargeOnce(storage, "a");
      const { id } = (await storage.pets.create(rex))._unsafeUnwrap();
      process.send?.(id.toString());
    }
  }),
);
