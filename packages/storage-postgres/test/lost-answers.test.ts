import type { Storage, StorageError, StorageWarning } from "@petstore/core/storage";
import type { Result } from "neverthrow";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { connectAdmin, endConnections, useAdmin } from "./support/admin.js";
import { openStorage } from "./support/open-storage.js";
import { postponeDeadlines, whileTimePasses } from "./support/pass-time.js";
import { hasPgBouncer, startPooler, type PoolMode } from "./support/pooler.js";
import { usePostgres } from "./support/postgres-server.js";
import { createProxy } from "./support/proxy.js";
import { aKey, allIds, chargeOnce, rex, times, usedBy } from "./support/open-storage.js";

const ROUNDS = sized(2, 50, 500);
const CRASHES = sized(1, 3, 20);
const server = usePostgres();
const admin = useAdmin(server);
let proxy: Awaited<ReturnType<typeof createProxy>>;
let storage: Storage;
let other: Storage;
let schemas = 0;

beforeEach(async () => {
  const schema = `lost_${(schemas += 1)}`;
  proxy = await createProxy(server.port);
  storage = await openStorage({ url: proxy.url(server.url()), schema, durableUsage: true });
  other = await openStorage({ url: server.url(), schema });
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
});

// Storages wait for their connections when they are closed, after this.
afterEach(() => proxy.thaw());

const create = async (): Promise<bigint> => (await storage.pets.create(rex))._unsafeUnwrap().id;
const lose = () => proxy.loseNextAnswer();
const modes = hasPgBouncer ? (["session", "transaction"] as const) : [];
type Loss = [answer: string, lose: () => void, mode?: PoolMode];
const LOSSES: readonly Loss[] = [
  ["is lost", lose],
  ...modes.map((mode): Loss => [`is lost behind PgBouncer by ${mode}`, lose, mode]),
  ["never comes, because the statement is lost", () => proxy.loseNextStatement()],
  ...["08P01", "58000", "XX000", "0A000", "P0001"].map((code): Loss => [
    `is the pooler's error ${code}`,
    () => proxy.refuseNextAnswer(code),
  ]),
  ["is a panic", () => proxy.refuseNextAnswer("53100", "PANIC")],
  ["is a panic in German", () => proxy.refuseNextAnswer("53100", "PANIK")],
];

it.each(LOSSES)("a write whose answer %s is stored once, and no replay", async (_, lose, mode) => {
  if (mode) {
    postponeDeadlines();
    const pooler = await startPooler(server.url(), new URL(proxy.url(server.url())).port, mode);
    onTestFinished(pooler.stop);
    storage = await openStorage({ url: pooler.url, schema: `lost_${schemas}`, durableUsage: true });
  }
  const ids = [await create()];
  expect(await chargeOnce(storage, "a")).toBe(0);
  for (let round = 1; round <= sized(1, 15, 100); round += 1) {
    lose();
    ids.push(...(await Promise.all(times(3, create))));
    const request = { token: `token ${round}`, fingerprint: "f", now: 1, expiresAt: 2 };
    lose();
    const first = (await storage.pets.createOnce(rex, request))._unsafeUnwrap();
    expect(first.replayed).toBe(false);
    const again = (await other.pets.createOnce(rex, request))._unsafeUnwrap();
    expect(again).toEqual({ ...first, replayed: true });
    ids.push(first.petId);
    lose();
    expect(await chargeOnce(storage, "a")).toBe(round);
    const key = aKey(`key ${round}`);
    lose();
    expect((await storage.keys.insert(key)).isOk()).toBe(true);
    lose();
    const changed = await storage.keys.update(key.id, (shown) => ({
      next: shown && { ...shown, createdAt: shown.createdAt + 1 },
      result: shown?.createdAt,
    }));
    expect(changed._unsafeUnwrap()).toBe(0);
    expect((await other.keys.find(key.id))._unsafeUnwrap()?.key.createdAt).toBe(1);
    lose();
    expect((await storage.keys.remove([key.id, "missing"]))._unsafeUnwrap()).toBe(1);
  }
  expect([await allIds(other), await usedBy(other, "a")]).toEqual([ids, 1 + sized(1, 15, 100)]);
});

it("a create whose statement arrives twice has the id after the recorded one, if that can be looked up", async () => {
  await create();
  await admin.query(`update lost_${schemas}.writers set seq = seq + 1, written = '{7}'`);
  expect(await create()).toBe(8n);
  await admin.query(`set search_path = lost_${schemas}; update writers set seq = 3;
    create function fail() returns trigger language plpgsql as 'begin raise ''no''; end';
    create trigger fail before update on writers for each row when (old.seq = 3) execute function fail()`);
  expect((await storage.pets.create(rex))._unsafeUnwrapErr().mayBeStored).toBe(true);
});

it("a pet gets no id of another one, although an error says wrongly that this one was not stored", async () => {
  await create();
  proxy.refuseNextAnswer("53100");
  expect((await storage.pets.create(rex)).isErr()).toBe(true);
  expect([await create(), await allIds(other)]).toEqual([3n, [1n, 2n, 3n]]);
});

// As an asynchronous standby that takes over.
const BEHIND = `update writers set seq = 1, written = '{1}' where seq > 1;
  delete from pets where id > 1; update inventory set last_id = 1`;

it.each([
  { name: "is behind", change: BEHIND, created: 4n },
  { name: "is gone", change: "delete from writers", created: true },
])("a create whose connection a failover ends; the row $name", async ({ change, created }) => {
  const warnings: StorageWarning[] = [];
  storage.onWarning?.((warning) => warnings.push(warning));
  await admin.query(`set search_path = lost_${schemas}`);
  for (let pet = 0; pet < 3; pet += 1) await create();
  await admin.query(change);
  proxy.loseNextStatement();
  const result = await storage.pets.create(rex);
  expect(result.isOk() ? result.value.id : result.error.mayBeStored).toBe(created);
  expect((await storage.pets.create(rex)).isOk()).toBe(true);
  expect(warnings).toMatchObject([{ code: "commits_lost" }]);
});

const IS_WAITING = `select count(*)::int from pg_locks where not granted`;

it.each([0, 2])("a call that waits %i s until another's connection ends goes on", async (later) => {
  const one = await openStorage({ url: server.url(), schema: `lost_${schemas}`, connections: 1 });
  await admin.query(`begin; lock table lost_${schemas}.pets`);
  const blocked = one.pets.find(1n);
  await expect.poll(() => admin.query(IS_WAITING)).toEqual([[1]]);
  const waiting = one.keys.find("a");
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + later * 1_000);
  onTestFinished(() => void vi.restoreAllMocks());
  await endConnections(admin);
  await admin.query("commit");
  expect([(await blocked).isOk(), (await waiting).isOk()]).toEqual([later === 0, true]);
});

it("a pet that the server is still adding when the connection is cut is created once", async () => {
  const ids = [await create()];
  await admin.query(`begin; lock table lost_${schemas}.pets`);
  const waiting = create();
  await expect.poll(() => admin.query(IS_WAITING)).toEqual([[1]]);
  proxy.cut();
  await expect.poll(() => admin.query(IS_WAITING)).toEqual([[2]]);
  await admin.query("commit");
  ids.push(await waiting);
  expect(await allIds(other)).toEqual(ids);
});

it("a charge whose answer is lost counts once, while another server charges the same key", async () => {
  postponeDeadlines();
  const shown: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    proxy.loseNextAnswer();
    const charges = [storage, other, storage, other, other].map((each) => chargeOnce(each, "a"));
    shown.push(...(await Promise.all(charges)));
  }
  expect(new Set(shown)).toEqual(new Set(times(ROUNDS * 5, (index) => index)));
  expect(await usedBy(other, "a")).toBe(ROUNDS * 5);
});

it("a silent network fails calls within timeoutSeconds, by default 5, delays no other server, and heals", async () => {
  await whileTimePasses(async () => {
    const url = proxy.url(server.url());
    const hurried = await openStorage({ url, schema: "early", timeoutSeconds: 1 });
    const charge = () => storage.usage.charge("digest of a", () => ({ result: 1 }));
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    expect((await storage.keys.remove(["missing"])).isOk()).toBe(true);
    const since = performance.now();
    const frozen = proxy.freezeAtNextAnswer();
    const created = storage.pets.create(rex);
    await frozen;
    const early = hurried.pets.find(1n).then(() => performance.now() - since);
    const hurriedKey = hurried.keys.find("a");
    const calls = [created, storage.pets.find(1n), charge(), storage.keys.remove(["missing"])];
    const lost = Promise.all<Result<unknown, StorageError>>(calls).then((results) => {
      return { results, after: performance.now() - since };
    });
    for (let count = 0; count < 20; count += 1) {
      expect(await chargeOnce(other, "a")).toBe(count);
      expect((await other.pets.create(rex)).isOk()).toBe(true);
    }
    const { results, after } = await lost;
    expect(results.filter((result) => result.isOk())).toEqual([]);
    expect(after).toBeLessThan(5_200);
    expect(await early).toBeLessThan(1_500);
    expect(results[0]).toMatchObject({ error: { mayBeStored: true } });
    for (const result of [results.at(-1), await hurriedKey])
      expect(result).toMatchObject({ error: { mayBeStored: false } });
    proxy.thaw();
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    expect(await chargeOnce(storage, "a")).toBe(20);
    const { pets, keys } = storage;
    const all = [pets.create(rex), pets.find(1n), charge(), keys.find("a")];
    const onAllConnections = await Promise.all<Result<unknown, StorageError>>(all);
    expect(onAllConnections.filter((result) => result.isErr())).toEqual([]);
    proxy.silence();
    const { mayBeStored } = (await storage.pets.create(rex))._unsafeUnwrapErr();
    expect([mayBeStored, (await storage.pets.create(rex)).isOk()]).toEqual([false, true]);
    const frozenAgain = proxy.freezeAtNextAnswer();
    const inserted = storage.keys.insert(aKey("b"));
    await frozenAgain;
    expect(await inserted).toMatchObject({ error: { mayBeStored: true } });
  });
});

it("a server that crashes and restarts loses no pet, and reuses no id", async () => {
  const acknowledged: bigint[] = [];
  let isRunning = true;
  const creating = times(8, async () => {
    while (isRunning) {
      const created = await storage.pets.create(rex);
      if (created.isOk()) acknowledged.push(created.value.id);
    }
  });
  const moreAre = async (): Promise<void> => {
    const goal = acknowledged.length + 50;
    while (acknowledged.length < goal) await storage.pets.find(1n);
  };
  for (let round = 0; round < CRASHES; round += 1) {
    await moreAre();
    await server.kill();
    await server.start();
    await moreAre();
  }
  isRunning = false;
  await Promise.all(creating);
  const ids = new Set(await allIds(storage));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
});

it.each([
  ["the role", "alter role petstore set synchronous_commit = off"],
  ["an operator", "alter system set synchronous_commit = local"],
  ["an operator, wholly", "alter system set synchronous_commit = off"],
])("a crash loses no pet and no key although %s weakened synchronous_commit", async (_, weaken) => {
  await admin.query(weaken);
  // Asynchronous commits reach the disk with the next one that does not wait, at the latest.
  await admin.set("wal_writer_delay", "10s");
  const weak = await openStorage({ url: server.url(), schema: `lost_${schemas}` });
  const ids = [];
  for (let pet = 0; pet < 5; pet += 1) ids.push((await weak.pets.create(rex))._unsafeUnwrap().id);
  (await weak.keys.insert(aKey("b")))._unsafeUnwrap();
  await server.kill();
  await server.start();
  expect(await allIds(other)).toEqual(ids);
  expect((await other.keys.find("b"))._unsafeUnwrap()).toBeDefined();
  const again = await connectAdmin(server.url());
  await again.query("alter system reset all");
  await again.query("alter role petstore reset all; select pg_reload_conf()");
});

it("warns once when fsync or full_page_writes is turned off while it is open", async () => {
  const codes: string[] = [];
  storage.onWarning?.(({ code }) => codes.push(code));
  const setPageWrites = async (value: "on" | "off") => {
    await admin.set("full_page_writes", value);
    await endConnections(admin);
  };
  onTestFinished(() => setPageWrites("on"));
  for (const [index, expected] of [1, 1, 2].entries()) {
    await setPageWrites(index === 1 ? "on" : "off");
    await create();
    await create();
    expect(codes).toEqual(Array(expected).fill("not_durable"));
  }
});

it("with durableUsage, a crash loses no charge", async () => {
  for (let count = 0; count < 20; count += 1) await chargeOnce(storage, "a");
  await server.kill();
  await server.start();
  expect([await usedBy(storage, "a"), await chargeOnce(storage, "a")]).toEqual([20, 20]);
});
