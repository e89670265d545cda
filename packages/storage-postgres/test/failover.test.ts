import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPostgresStorage } from "@petstore/storage-postgres";
import { expect, it, onTestFinished } from "vitest";
import { inCi, sized } from "../../../scripts/test-size.js";
import { connectAdmin } from "./support/admin.js";
import { allIds, firstPage, openStorage, rex, times } from "./support/open-storage.js";
import { whileTimePasses } from "./support/pass-time.js";
import { createPostgresServer, startPostgres } from "./support/postgres-server.js";
import { createProxy } from "./support/proxy.js";

const ROUNDS = sized(0, 3, 20);
const PETS = 100;

/** A primary with a standby that follows it, and a proxy that stands for the name of the primary. */
async function createPair() {
  const [primary, standby] = [createPostgresServer(), createPostgresServer()];
  // The control file has the settings of the last start.
  await primary.start();
  await primary.stop();
  execFileSync("cp", ["-a", primary.data, standby.data]);
  onTestFinished(async () => {
    for (const server of [primary, standby]) await server.remove();
  });
  const { username, password } = new URL(primary.url());
  const address = `host=127.0.0.1 port=${primary.port} user=${username} password=${password}`;
  appendFileSync(join(standby.data, "postgresql.auto.conf"), `primary_conninfo = '${address}'\n`);
  writeFileSync(join(standby.data, "standby.signal"), "");
  await primary.start();
  await standby.start();
  const proxy = await createProxy(primary.port);
  return { primary, standby, proxy, url: proxy.url(primary.url()) };
}

const promote = async (url: string) => (await connectAdmin(url)).query("select pg_promote()");

it.each(times(ROUNDS, (round) => round))("a synchronous failover loses nothing", async () => {
  const { primary, standby, proxy, url } = await createPair();
  await (await connectAdmin(primary.url())).set("synchronous_standby_names", "*");
  const servers = [await openStorage({ url }), await openStorage({ url })];
  const [reader] = servers;
  const created = new Map<string, bigint>();
  const expiresAt = Date.now() + 60_000;
  let isOver = false;
  // Otherwise, a test that fails would never end.
  let isEnded = false;
  onTestFinished(() => void (isOver = isEnded = true));

  const writing = times(8, async (writer) => {
    for (let count = 0; !isOver; count += 1) {
      const name = `${writer}-${count}`;
      const request = { token: name, fingerprint: "f", now: 1, expiresAt };
      for (let attempt = writer; !created.has(name) && !isEnded; attempt += 1) {
        const pets = servers[attempt % servers.length]?.pets;
        const added = await pets?.createOnce({ ...rex, name }, request);
        if (added?.isOk()) created.set(name, added.value.petId);
      }
    }
  });
  await expect.poll(() => created.size).toBeGreaterThan(PETS);
  await primary.kill();
  proxy.leadTo(standby.port);
  expect((await openPostgresStorage({ url }))._unsafeUnwrapErr().code).toBe("read_only");
  const before = created.size;
  const listed = await reader?.pets.list(firstPage);
  expect(listed?._unsafeUnwrapErr().message).toMatch(/a standby, or read-only/);
  expect(created.size).toBe(before);
  await promote(standby.url());
  await expect.poll(() => created.size, { timeout: 20_000 }).toBeGreaterThan(before + PETS);
  isOver = true;
  await Promise.all(writing);

  const after = await connectAdmin(standby.url());
  const stored = await after.query("select name, id::integer from petstore.pets order by id");
  const acknowledged = [...created].map(([name, id]) => [name, Number(id)] as const);
  expect(stored).toEqual(acknowledged.toSorted(([, one], [, other]) => one - other));
});

it("reports lost commits although no server was there when the writer looked", async () => {
  const server = await startPostgres();
  const proxy = await createProxy(server.port);
  const storage = await openStorage({ url: proxy.url(server.url()) });
  const warnings: string[] = [];
  storage.onWarning?.(({ code }) => warnings.push(code));
  const create = () => storage.pets.create(rex);
  for (const behind of [0, 1]) {
    for (let pet = 0; pet < 3; pet += 1) (await create())._unsafeUnwrap();
    proxy.leadTo(1);
    expect((await whileTimePasses(create))._unsafeUnwrapErr()).toMatchObject({
      mayBeStored: true,
      cause: { cause: { message: "it was closed" } },
    });
    const admin = await connectAdmin(server.url());
    await admin.query(`update petstore.writers set seq = seq - ${behind}`);
    proxy.leadTo(server.port);
    for (let pet = 0; pet < 2; pet += 1) (await create())._unsafeUnwrap();
    expect(warnings).toEqual(Array(behind).fill("commits_lost"));
  }
});

it.runIf(inCi)("a failover to a standby that is behind is reported; no id is reused", async () => {
  const { primary, standby, proxy, url } = await createPair();
  const [writer, idle] = [await openStorage({ url }), await openStorage({ url })];
  const warnings: string[] = [];
  writer.onWarning?.(({ code }) => warnings.push(code));
  const create = async () => (await writer.pets.create(rex))._unsafeUnwrap().id;
  await create();
  const sent = "select pg_current_wal_lsn() <= replay_lsn from pg_stat_replication";
  const admin = await connectAdmin(primary.url());
  await expect.poll(() => admin.query(sent)).toEqual([[true]]);
  await standby.stop();
  const lost = await Promise.all(times(20, create));
  await primary.kill();
  await standby.start();
  await promote(standby.url());
  proxy.leadTo(standby.port);

  const fresh = await openStorage({ url });
  const again = [await fresh.pets.create(rex), await idle.pets.create(rex)];
  expect(warnings).toEqual([]);
  again.push(await writer.pets.create(rex));
  expect(warnings).toEqual(["commits_lost"]);
  const ids = again.map((each) => each._unsafeUnwrap().id);
  expect(ids.filter((id) => lost.includes(id))).toEqual([]);
  expect(await allIds(fresh)).toEqual([1n, ...ids]);
});
