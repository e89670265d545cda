import { storageContract } from "@petstore/storage-contract";
import pg from "pg";
import { describe, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";

const server = usePostgres();
let schemas = 0;

storageContract(
  { describe, it },
  {
    name: "a host's pool of one connection",
    createFixture: () => {
      const schema = `fixture_${(schemas += 1)}`;
      const pool = new pg.Pool({ connectionString: server.url(), max: 1 });
      // It reports the end of the server if that comes before the end of its connections.
      pool.on("error", () => undefined);
      return Promise.resolve({
        open: () => openStorage({ pool, schema }),
        remove: () => pool.end(),
      });
    },
  },
);

// By default, the pool of one connection stands for both: it is the harder of the two.
if (sized(1, 2, 2) > 1) {
  storageContract(
    { describe, it },
    {
      name: "a schema",
      createFixture: () => {
        const schema = `fixture_${(schemas += 1)}`;
        return Promise.resolve({
          open: () => openStorage({ url: server.url(), schema }),
          remove: () => Promise.resolve(),
        });
      },
    },
  );
}
