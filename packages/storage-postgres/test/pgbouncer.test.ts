import { storageContract } from "@petstore/storage-contract";
import { beforeAll, describe, expect, it } from "vitest";
import { inCi } from "../../../scripts/test-size.js";
import { connectAdmin, endConnections } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { postponeDeadlines } from "./support/pass-time.js";
import { hasPgBouncer, startPooler } from "./support/pooler.js";
import { usePostgres } from "./support/postgres-server.js";
import { aKey, allIds, chargeOnce, rex, times, usedBy } from "./support/open-storage.js";

describe.skipIf(!hasPgBouncer)("PgBouncer by transaction (needs apt-get install pgbouncer)", () => {
  const server = usePostgres();
  let url: string;
  let schemas = 0;
  const open = (schema: string) => openStorage({ url, schema });

  beforeAll(async () => {
    const pooler = await startPooler(server.url(), new URL(server.url()).port, "transaction");
    ({ url } = pooler);
    return pooler.stop;
  });

  const createFixture = () => {
    const schema = `fixture_${(schemas += 1)}`;
    return Promise.resolve({ open: () => open(schema), remove: () => Promise.resolve() });
  };
  const inFull = describe.runIf(inCi);
  storageContract({ describe: inFull, it }, { name: "a schema behind a pooler", createFixture });

  it("no call fails when a pooler cannot keep statements, or its connections are ended", async () => {
    postponeDeadlines();
    const admin = await connectAdmin(server.url());
    const servers = [await open("pooled"), await open("pooled"), await open("pooled")] as const;
    const [storage] = servers;
    (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
    for (let round = 0; round < 5; round += 1) {
      const calls = servers.flatMap((each) => [
        ...times(20, () => chargeOnce(each, "a")),
        ...times(20, async () => (await each.pets.create(rex))._unsafeUnwrap()),
        ...times(20, async () => (await each.pets.find(1n))._unsafeUnwrap()),
      ]);
      if (round > 2) await endConnections(admin);
      await Promise.all(calls);
    }
    expect(await usedBy(storage, "a")).toBe(3 * 5 * 20);
    expect(await allIds(storage)).toHaveLength(3 * 5 * 20);
  });
});
