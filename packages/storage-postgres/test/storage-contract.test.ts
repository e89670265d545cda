import { pathToFileURL } from "node:url";
import type { Storage } from "@petstore/core/storage";
import { storageContract } from "@petstore/storage-contract";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { sized } from "../../../scripts/test-size.js";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";

const server = usePostgres();
let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: server.url(), max: 1 });
  // It reports the end of the server if that comes before the end of its connections.
  pool.on("error", () => undefined);
});
afterAll(() => pool.end());

const MODULE = "packages/storage-postgres/test/support/postgres-module.ts";
const url = pathToFileURL(useBundled("postgres-module", [MODULE])(MODULE)).href;
const module = { url, rounds: sized(20, 150, 5_000) };
let schemas = 0;
const contracts: [name: string, open: (schema: string) => Promise<Storage>][] = [
  ["a host's pool of one connection", (schema) => openStorage({ pool, schema })],
  ["a schema", (schema) => openStorage({ url: server.url(), schema })],
];
// By default, the pool of one connection stands for both: it is the harder of the two.
for (const [name, open] of contracts.slice(0, sized(1, 2, 2))) {
  const createFixture = () => {
    const schema = `fixture_${(schemas += 1)}`;
    const options = { url: server.url(), schema };
    return Promise.resolve({ open: () => open(schema), options, remove: () => Promise.resolve() });
  };
  storageContract({ describe, it }, { name, createFixture, module });
}
