import type { Storage } from "@petstore/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { openStorage } from "./support/open-storage.js";
import { whileTimePasses } from "./support/pass-time.js";
import { usePostgres } from "./support/postgres-server.js";
import { createProxy, type Proxy } from "./support/proxy.js";
import {
  aKey,
  allIds,
  chargeOnce,
  rex,
  times,
  usedBy,
} from "../../storage-sql/test/support/samples.js";

const ROUNDS = sized(2, 50, 500);
const server = usePostgres();
let proxy: Proxy;
let storage: Storage;
let other: Storage;

beforeAll(async () => {
  proxy = await createProxy(server.port);
  storage = await openStorage({ url: proxy.url(server.url()) });
  other = await openStorage({ url: server.url() });
  for (const id of ["a", "b"]) (await storage.keys.insert(aKey(id)))._unsafeUnwrap();
});

afterAll(async () => {
  await storage.close();
  await other.close();
  await proxy.close();
});

it("a pet whose answer is lost is created once, with the id that is returned", async () => {
  const before = await allIds(other);
  const ids: bigint[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    proxy.loseNextAnswer();
    const created = await Promise.all(times(3, () => storage.pets.create(rex)));
    ids.push(...created.map((each) => each._unsafeUnwrap().id));
  }
  expect(await allIds(other)).toEqual([...before, ...ids]);
});

it("a creation whose answer is lost is no replay of itself", async () => {
  const before = await allIds(other);
  for (let round = 0; round < ROUNDS; round += 1) {
    const request = { token: `token ${round}`, fingerprint: "f", now: 1, expiresAt: 2 };
    proxy.loseNextAnswer();
    const first = (await storage.pets.createOnce(rex, request))._unsafeUnwrap();
    expect(first.replayed).toBe(false);
    const again = (await other.pets.createOnce(rex, request))._unsafeUnwrap();
    expect(again).toEqual({ ...first, replayed: true });
  }
  expect(await allIds(other)).toHaveLength(before.length + ROUNDS);
});

it("a charge whose answer is lost counts once, while another server charges the same key", async () => {
  const shown: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    proxy.loseNextAnswer();
    const charges = [storage, other, storage, other, other].map((each) => chargeOnce(each, "a"));
    shown.push(...(await Promise.all(charges)));
  }
  expect(shown.toSorted((one, another) => one - another)).toEqual(
    times(ROUNDS * 5, (index) => index),
  );
  expect(await usedBy(other, "a")).toBe(ROUNDS * 5);
});

it("a key whose answer is lost is added, changed and removed once", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = { ...aKey(`key ${round}`), createdAt: 0 };
    proxy.loseNextAnswer();
    expect((await storage.keys.insert(key)).isOk()).toBe(true);
    proxy.loseNextAnswer();
    const changed = await storage.keys.update(key.id, (shown) => ({
      next: shown && { ...shown, createdAt: shown.createdAt + 1 },
      result: shown?.createdAt,
    }));
    expect(changed._unsafeUnwrap()).toBe(0);
    expect((await other.keys.find(key.id))._unsafeUnwrap()?.key.createdAt).toBe(1);
    proxy.loseNextAnswer();
    expect((await storage.keys.remove([key.id, "missing"]))._unsafeUnwrap()).toBe(1);
  }
});

it("connections that are cut at any time lose no call and count none twice", async () => {
  const before = await allIds(other);
  const ids: bigint[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const calls = times(20, async () => {
      await chargeOnce(storage, "b");
      return (await storage.pets.create(rex))._unsafeUnwrap().id;
    });
    for (let turn = 0; turn < round % 7; turn += 1) await other.pets.find(1n);
    proxy.cut();
    ids.push(...(await Promise.all(calls)));
  }
  expect(await usedBy(other, "b")).toBe(ROUNDS * 20);
  expect(new Set(ids).size).toBe(ROUNDS * 20);
  expect((await allIds(other)).slice(before.length)).toEqual(
    ids.toSorted((one, another) => (one < another ? -1 : 1)),
  );
});

it("a silent network fails calls within 5 s, delays no other server, and heals", async () => {
  await whileTimePasses(async () => {
    const cutOff = await openStorage({ url: proxy.url(server.url()) });
    // Its connection is open, and its writers are registered.
    expect((await cutOff.pets.create(rex)).isOk()).toBe(true);
    expect((await cutOff.keys.remove(["missing"])).isOk()).toBe(true);
    const since = performance.now();
    const frozen = proxy.freezeAtNextAnswer();
    const created = cutOff.pets.create(rex);
    await frozen;
    const lost = Promise.all([
      created,
      cutOff.pets.find(1n),
      cutOff.usage.charge("digest of b", () => ({ result: 1 })),
      cutOff.keys.remove(["missing"]),
    ]).then((results) => ({ results, after: performance.now() - since }));
    const used = (await usedBy(other, "b")) ?? NaN;
    for (let count = 0; count < 20; count += 1) {
      expect(await chargeOnce(other, "b")).toBe(used + count);
      expect((await other.pets.create(rex)).isOk()).toBe(true);
    }
    const { results, after } = await lost;
    expect(results.filter((result) => result.isOk())).toEqual([]);
    expect(after).toBeLessThan(5_200);
    proxy.thaw();
    expect((await cutOff.pets.create(rex)).isOk()).toBe(true);
    expect(await chargeOnce(cutOff, "b")).toBe(used + 20);
    // When all connections have died silently, the first that shows it is enough.
    const onAllConnections = await Promise.all([
      cutOff.pets.create(rex),
      cutOff.pets.find(1n),
      cutOff.usage.charge("digest of b", () => ({ result: 1 })),
      cutOff.keys.find("b"),
    ]);
    expect(onAllConnections.filter((result) => result.isErr())).toEqual([]);
    proxy.silence();
    const { mayBeStored } = (await cutOff.pets.create(rex))._unsafeUnwrapErr();
    expect(mayBeStored).toBe(false);
    expect((await cutOff.pets.create(rex)).isOk()).toBe(true);
    await cutOff.close();
  });
});
