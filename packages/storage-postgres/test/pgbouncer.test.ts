import { storageContract } from "@petstore/storage-contract";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { inCi, sized } from "../../../scripts/test-size.js";
import { connectAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { postponeDeadlines } from "./support/pass-time.js";
import { hasPgBouncer, startPooler } from "./support/pooler.js";
import { usePostgres } from "./support/postgres-server.js";
import { createProxy } from "./support/proxy.js";
import { aKey, allIds, chargeOnce, rex, times, usedBy } from "./support/samples.js";

/** How often an answer is lost. */
const ROUNDS = sized(3, 20, 100);

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
      if (round > 2)
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
        );
      await Promise.all(calls);
    }
    expect(await usedBy(storage, "a")).toBe(3 * 5 * 20);
    expect(await allIds(storage)).toHaveLength(3 * 5 * 20);
  });

  describe.each(["session", "transaction"] as const)("a pooler in %s mode", (mode) => {
    it.each([1, 4])("a server's lost answer to %i calls doubles nothing", async (calls) => {
      postponeDeadlines();
      const proxy = await createProxy(server.port);
      const { port } = new URL(proxy.url(server.url()));
      const pooler = await startPooler(server.url(), port, mode);
      onTestFinished(pooler.stop);
      const schema = `lost_${mode}_${calls}`;
      const storage = await openStorage({ url: pooler.url, schema, durableUsage: true });
      const beside = await openStorage({ url: server.url(), schema });
      (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
      const ids: bigint[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const create = async () => (await storage.pets.create(rex))._unsafeUnwrap().id;
        proxy.loseNextAnswer();
        ids.push(...(await Promise.all(times(calls, create))));
        proxy.loseNextAnswer();
        await Promise.all(times(calls, () => chargeOnce(storage, "a")));
        const keys = times(calls, (index) => aKey(`key ${round} ${index}`));
        proxy.loseNextAnswer();
        for (const added of await Promise.all(keys.map((key) => storage.keys.insert(key))))
          expect(added.isOk()).toBe(true);
        for (const { id } of keys)
          expect((await beside.keys.find(id))._unsafeUnwrap()).toBeDefined();
      }
      expect((await allIds(beside)).toSorted()).toEqual(ids.toSorted());
      expect(await usedBy(beside, "a")).toBe(ROUNDS * calls);
    });
  });
});
