import { createPetStore, type Storage } from "@petstore/core";
import { expect, it, onTestFinished } from "vitest";
import { seed, sized } from "../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";
import { aKey, chargeOnce, times, usedBy } from "../../storage-sql/test/support/samples.js";

const server = usePostgres();
const ROUNDS = sized(1, 20, 200);
const SERVERS = 4;
let schemas = 0;

/** Storages with pools of their own on one new schema, which stand for servers. */
async function openServers(): Promise<readonly Storage[]> {
  const schema = `servers_${(schemas += 1)}`;
  const storages: Storage[] = [];
  for (let count = 0; count < SERVERS; count += 1) {
    storages.push(await openStorage({ url: server.url(), schema }));
  }
  onTestFinished(async () => {
    for (const storage of storages) await storage.close();
  });
  return storages;
}

it("four servers admit exactly the plan's number together", async () => {
  const stores = (await openServers()).map((storage) => createPetStore({ storage, ban: false }));
  const [store] = stores;
  for (let round = 0; round < ROUNDS; round += 1) {
    const issued = await store?.keys.issue({ plan: "free" });
    const { secret } = issued?._unsafeUnwrap() ?? { secret: "" };
    const admitted = await Promise.all(
      stores.flatMap((each) => times(64, async () => (await each.as(secret).admit()).isOk())),
    );
    expect(admitted.filter(Boolean)).toHaveLength(60);
  }
});

it(
  "every charge counts once, also of 100 keys and with connections that are ended",
  {
    timeout: 600_000,
  },
  async () => {
    const storages = await openServers();
    const admin = await connectAdmin(server.url());
    const ids = ["hot", ...times(100, (index) => `key ${(index * seed) % 1_009}`)];
    for (const id of ids) (await storages[0]?.keys.insert(aKey(id)))?._unsafeUnwrap();

    const perKey = SERVERS * ROUNDS;
    let ended = 0;
    const charging = storages.map(async (storage) => {
      const shown: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const charges = [...ids, ...times(64, () => "hot")].map(
          async (id) => `${id}: ${await chargeOnce(storage, id)}`,
        );
        ended += await terminateOne(admin);
        shown.push(...(await Promise.all(charges)));
      }
      return shown;
    });
    const shown = (await Promise.all(charging)).flat();
    expect(ended).toBeGreaterThan(0);
    expect(new Set(shown).size).toBe(shown.length);
    const [storage] = storages;
    if (!storage) return;
    for (const id of ids)
      expect(await usedBy(storage, id)).toBe(id === "hot" ? perKey * 65 : perKey);
    const deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    expect(await admin.query(deadlocks)).toEqual([["0"]]);
  },
);
