import { storageContract } from "@petstore/storage-contract";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";

const server = usePostgres();
let schemas = 0;

let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: server.url(), max: 1 });
});
afterAll(() => pool.end());

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

storageContract(
  { describe, it },
  {
    name: "a host's pool of one connection",
    createFixture: () => {
      const schema = `fixture_${(schemas += 1)}`;
      return Promise.resolve({
        open: () => openStorage({ pool, schema }),
        remove: () => Promise.resolve(),
      });
    },
  },
);
