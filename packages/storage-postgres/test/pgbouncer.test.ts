import { storageContract } from "@petstore/storage-contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { connectAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { hasPgbouncer, startPgbouncer, type Pgbouncer } from "./support/pgbouncer.js";
import { usePostgres } from "./support/postgres-server.js";
import {
  aKey,
  allIds,
  chargeOnce,
  rex,
  times,
  usedBy,
} from "../../storage-sql/test/support/samples.js";

describe.skipIf(!hasPgbouncer)(
  "PgBouncer in transaction mode (skipped unless it is there: apt-get install pgbouncer)",
  () => {
    const server = usePostgres();
    let pooler: Pgbouncer | undefined;
    let schemas = 0;
    const url = (): string => pooler?.url ?? "";

    beforeAll(async () => {
      pooler = await startPgbouncer(server);
    });
    afterAll(() => pooler?.stop());

    const inFull = describe.runIf(sized(0, 1, 1));
    storageContract(
      { describe: inFull, it },
      {
        name: "a schema behind a pooler",
        createFixture: () => {
          const schema = `fixture_${(schemas += 1)}`;
          return Promise.resolve({
            open: () => openStorage({ url: url(), schema }),
            remove: () => Promise.resolve(),
          });
        },
      },
    );

    it("no call fails when a pooler cannot keep statements, or its connections are ended", async () => {
      const admin = await connectAdmin(server.url());
      const servers = [];
      for (let count = 0; count < 3; count += 1) {
        servers.push(await openStorage({ url: url(), schema: "pooled" }));
      }
      const [storage] = servers;
      if (!storage) return;
      (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
      for (let round = 0; round < 5; round += 1) {
        const calls = servers.flatMap((each) => [
          ...times(20, () => chargeOnce(each, "a")),
          ...times(20, async () => (await each.pets.create(rex))._unsafeUnwrap()),
          ...times(20, async () => (await each.pets.find(1n))._unsafeUnwrap()),
        ]);
        if (round > 2)
          await admin.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
          );
        await Promise.all(calls);
      }
      expect(await usedBy(storage, "a")).toBe(3 * 5 * 20);
      expect(await allIds(storage)).toHaveLength(3 * 5 * 20);
    });
  },
);
