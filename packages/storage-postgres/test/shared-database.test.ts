import { petFilters } from "@petstore/core/internal";
import { NO_USAGE } from "@petstore/core/storage";
import type { Storage, StorageError, StorageWarning } from "@petstore/core/storage";
import { petColumns } from "@petstore/storage-sql";
import { openPostgresStorage, postgresMigrations } from "@petstore/storage-postgres";
import type { Result } from "neverthrow";
import { expect, it, onTestFinished, vi } from "vitest";
import { hostTimers } from "../../../scripts/fake-timers.js";
import { inCi, seed, sized } from "../../../scripts/test-size.js";
import { expectSignals } from "../../storage-sql/test/support/signals.js";
import { endConnections, terminateOne, useAdmin } from "./support/admin.js";
import { openPool, openStorage, turns, WRONG_CHANGES } from "./support/open-storage.js";
import { postponeDeadlines, whileTimePasses } from "./support/pass-time.js";
import { usePostgres } from "./support/postgres-server.js";
import { aKey, allIds, chargeOnce, firstPage, rex, times, usedBy } from "./support/open-storage.js";

const ROUNDS = sized(1, 20, 200);
const server = usePostgres();
const admin = useAdmin(server);
const open = (schema: string) => openStorage({ url: server.url(), schema });
const list = async ({ pets }: Storage) => (await pets.list(firstPage))._unsafeUnwrap().pets;

it("an index has the pets of each filter in the order of their ids", async () => {
  await open("indexes");
  const indexes = await admin.query("select indexdef from pg_indexes where schemaname = 'indexes'");
  for (const { column } of petFilters.map((field) => petColumns[field]))
    expect(indexes.flat().join()).toContain(`.pets USING btree (${column}, id)`);
});

it("a breaking migration renames `writers`: a running server of an older version does nothing more", async () => {
  const script = postgresMigrations();
  const renames = script.match(/\.writers rename to/g) ?? [];
  expect(script.match(/, true\);/g)).toHaveLength(1 + renames.length);
  const { pets, keys, usage } = await open("outdated");
  await admin.query("alter table outdated.writers rename to writers_2");
  const outcomes = await Promise.all<Result<unknown, StorageError>>([
    ...[pets.create(rex), pets.find(1n), pets.list(firstPage)],
    ...[keys.insert(aKey("a")), keys.find("a"), keys.remove(["a"])],
    keys.list({ limit: 1, after: undefined, banned: false }),
    ...[usage.findByDigest("digest"), usage.charge("digest", () => ({ result: 1 }))],
  ]);
  expect(outcomes.filter((outcome) => outcome.isOk())).toEqual([]);
});

it("changes by hand reach a page that is cached", async () => {
  const storage = await open("by_hand");
  for (let count = 0; count < 3; count += 1) await storage.pets.create(rex);
  const names = async () => (await list(storage)).map(({ name }) => name);
  expect(await list(storage)).toBe(await list(storage));
  await admin.query("update by_hand.pets set name = 'Bo' where id = 2");
  expect(await names()).toEqual(["Rex", "Bo", "Rex"]);
  expect(await list(storage)).toBe(await list(storage));
  await admin.query("delete from by_hand.pets where id = 2");
  expect(await names()).toEqual(["Rex", "Rex"]);
  await admin.query("truncate by_hand.pets");
  expect([await names(), (await storage.pets.create(rex))._unsafeUnwrap().id]).toEqual([[], 4n]);
});

it("a page is read again after a failover to a standby that was behind, although no timeline can be read", async () => {
  const [here, there] = [await open("histories"), await open("histories")];
  const names = async () => (await list(here)).map(({ name }) => name);
  const edit = (name: string) => `update histories.pets set name = '${name}' where id = 1`;
  await admin.query(
    `create or replace function histories.current_timeline() returns text language sql as $$ select '' $$;
    update histories.inventory set timeline = ''`,
  );
  (await here.pets.create(rex))._unsafeUnwrap();
  await admin.query("create table histories.standby as select * from histories.inventory");
  const failOver = `set session_replication_role = replica;
    delete from histories.pets where id > 1; update histories.pets set name = 'Rex';
    update histories.inventory set (last_id, edits) = (select last_id, edits from histories.standby);
    reset session_replication_role`;
  (await here.pets.create({ ...rex, name: "lost" }))._unsafeUnwrap();
  expect(await names()).toEqual(["Rex", "lost"]);
  await admin.query(failOver);
  (await there.pets.create({ ...rex, name: "Bo" }))._unsafeUnwrap();
  expect(await names()).toEqual(["Rex", "Bo"]);
  await admin.query(`${failOver}; ${edit("lost")}`);
  expect(await names()).toEqual(["lost"]);
  await admin.query(`${failOver}; ${edit("Ada")}`);
  expect(await names()).toEqual(["Ada"]);
  expect((await here.pets.create(rex))._unsafeUnwrap().id).toBe(3n);
});

it("a host that moves its fake timers fails no statement", async () => {
  const storage = await open("fake_timers");
  hostTimers();
  const over = new AbortController();
  const created = storage.pets.create(rex).finally(() => over.abort());
  for (; !over.signal.aborted; await admin.query("select 1")) vi.advanceTimersByTime(3_600_000);
  (await created)._unsafeUnwrap();
});

it("a call that has ended leaves no timer", async () => {
  const { pets, keys, usage } = await open("timers");
  const left = await whileTimePasses(async () => {
    const calls = () => [pets.find(1n), pets.create(rex), keys.find("a"), usage.findByDigest("a")];
    for (let round = 0; round < 10; round += 1) await Promise.all(calls());
    return vi.getTimerCount();
  });
  expect(left).toBeLessThan(10);
});

it("publishes each transaction", async () => expectSignals(await open("signals"), "postgres"));

it("a row that another transaction holds delays its own key only", async () => {
  const storage = await open("held");
  for (const id of ["a", "b"]) (await storage.keys.insert(aKey(id)))._unsafeUnwrap();
  await admin.query("begin");
  await admin.query("select from held.api_key_usage where key_id = 'a' for update");
  const failed = await whileTimePasses(async () => {
    const held = storage.usage.charge("digest of a", () => ({ next: NO_USAGE, result: 0 }));
    for (let count = 0; count < 20; count += 1) expect(await chargeOnce(storage, "b")).toBe(count);
    return held;
  });
  expect(failed._unsafeUnwrapErr().message).toContain("kept changing the same row");
  const waiting = chargeOnce(storage, "a");
  await admin.query("rollback");
  expect([await waiting, await usedBy(storage, "a")]).toEqual([0, 1]);
});

it("servers that charge a key in turn lose one charge each; one that charges its secrets in turn loses none", async () => {
  const both = [await open("in_turn"), await open("in_turn")];
  const key = aKey("a");
  const secrets = key.secrets.flatMap((secret) => [secret, { ...secret, digest: "older" }]);
  (await both[0]?.keys.insert({ ...key, secrets }))?._unsafeUnwrap();
  let decided = 0;
  const decide = () => ({ next: { ...NO_USAGE, dayUsed: ++decided }, result: 0 });
  for (let round = 0; round < 5; round += 1)
    for (const { usage } of both) (await usage.charge("digest of a", decide))._unsafeUnwrap();
  expect(decided).toBeLessThanOrEqual(12);
  const { usage } = await open("in_turn");
  for (const digest of ["older", "digest of a", "older"])
    (await usage.charge(digest, decide))._unsafeUnwrap();
  expect(decided).toBeLessThanOrEqual(15);
  const refuse = () => ({ result: ++decided });
  expect((await usage.charge("older", refuse))._unsafeUnwrap()).toBeLessThanOrEqual(17);
});

it("a change of a key that failed before its turn came is not made later", async () => {
  const storage = await open("turns");
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  const decide = vi.fn(() => ({ next: aKey("a"), result: 0 }));
  const change = () => storage.keys.update("a", decide);
  await admin.query("begin; select from turns.api_keys for update");
  const failed = await whileTimePasses(() => Promise.all(times(20, change)));
  const begun = decide.mock.calls.length;
  await admin.query("rollback");
  expect([failed.some((result) => result.isOk()), (await change()).isOk()]).toEqual([false, true]);
  expect(decide).toHaveBeenCalledTimes(begun + 1);
});

it("a host's pool of one connection delays calls, and fails them in time, while it is in use, and reads nothing when it is read-only", async () => {
  const pool = openPool({ connectionString: server.url(), max: 1 });
  const storage = await openStorage({ pool, schema: "one_connection" });
  const inUse = await pool.connect();
  const delayed = storage.pets.create(rex);
  inUse.release();
  expect((await delayed).isOk()).toBe(true);
  const againInUse = await pool.connect();
  expect(againInUse.listenerCount("error")).toBe(1);
  const failed = await whileTimePasses(() => storage.pets.create(rex));
  expect(failed._unsafeUnwrapErr().message).toContain("no connection in time");
  againInUse.release();
  expect((await storage.pets.create(rex)).isOk()).toBe(true);
  const setReadOnly = async (value: string) => {
    await admin.set("default_transaction_read_only", value);
    const show = { text: "show default_transaction_read_only", rowMode: "array" } as const;
    await expect.poll(async () => (await pool.query(show)).rows).toEqual([[value]]);
  };
  await setReadOnly("on");
  const reads = [
    () => storage.pets.list(firstPage),
    () => storage.pets.find(1n),
    () => storage.keys.list({ limit: 9, after: undefined, banned: false }),
    () => storage.keys.find("a"),
    () => storage.keys.update("a", () => ({ result: 0 })),
    () => storage.usage.findByDigest("digest of a"),
    () => storage.usage.charge("digest of a", () => ({ result: 0 })),
  ];
  for (const read of reads) {
    const message = async () =>
      (await whileTimePasses<Result<unknown, StorageError>>(read))._unsafeUnwrapErr().message;
    await expect.poll(message, { timeout: 20_000 }).toContain("a standby, or read-only");
  }
  await setReadOnly("off");
  expect(await allIds(storage)).toHaveLength(2);
  await admin.query("begin; lock table one_connection.pets");
  expect((await whileTimePasses(() => storage.pets.find(1n))).isErr()).toBe(true);
  expect((await storage.keys.find("a")).isOk()).toBe(true);
  await admin.query("rollback");
});

it("a charge waits for few of the lists of another caller", async () => {
  const storage = await openStorage({ url: server.url(), schema: "lists", connections: 1 });
  const read = times(9, (after) => storage.pets.list({ ...firstPage, after: BigInt(after) }));
  await turns(1);
  const charge = storage.usage.charge("", () => ({ result: "charge" }));
  expect((await Promise.race([charge, ...read]))._unsafeUnwrap()).toBe("charge");
});

it("no statement on new tables, without statistics, seems so long to PostgreSQL that it compiles it", async () => {
  const pool = openPool({ connectionString: server.url(), max: 1 });
  const { pets } = await openStorage({ pool, schema: "new_tables" });
  const request = { token: "a", fingerprint: "", now: 0, expiresAt: 1 };
  (await pets.createOnce(rex, request))._unsafeUnwrap();
  (await pets.list({ ...firstPage, status: "available" }))._unsafeUnwrap();
  await pool.query("set plan_cache_mode = force_generic_plan");
  const kept = `select format('explain execute %I (null%s)', name, repeat(', null', cardinality(parameter_types) - 1)) as explain
    from pg_prepared_statements where cardinality(parameter_types) > 0`;
  for (const { explain } of (await pool.query<{ explain: string }>(kept)).rows) {
    const { rows } = await pool.query(explain);
    expect(Number(/\.\.(\d+)/.exec(JSON.stringify(rows))?.[1])).toBeLessThan(1_000);
  }
});

it("a host's pool survives the end of its idle connections, and keeps no listener", async () => {
  const pool = openPool({ connectionString: server.url(), application_name: "host" });
  const listeners = () => ["error", "connect"].map((event) => pool.listenerCount(event));
  const before = listeners();
  const storage = await openStorage({ pool, schema: "host" });
  for (let count = 0; count < 3; count += 1) {
    await Promise.all(times(3, () => storage.pets.create(rex)));
    await endConnections(admin, "host");
  }
  expect(await allIds(storage)).toHaveLength(9);
  await storage.close();
  expect([await admin.query("select from host.writers"), listeners()]).toEqual([[], before]);
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

const setStandby = (name: string) => admin.set("synchronous_standby_names", name);
const BACKENDS =
  "select count(*)::int from pg_stat_activity where application_name = 'petstore' and state = 'active'";

const ROW = "begin; update waiting.inventory set edits = edits";
const TABLES = "waiting.inventory, waiting.pets, waiting.api_key_secrets";

// Deadlines come five times as fast as the server's lock timeouts.
it.runIf(inCi).each([
  ["an open transaction holds the row of inventory", ROW, ""],
  ["one locks the tables of pets and of keys", `begin; lock ${TABLES} in exclusive mode`, ""],
  // The checkpointer tells the others; nothing shows when it has.
  ["a synchronous standby is away", "select pg_sleep(1)", "away"],
])("while %s, only creates fail, and few backends are in use", async (_, begin, standby) => {
  await admin.query("drop schema if exists waiting cascade; drop role if exists ordinary");
  const url = new URL(server.url());
  const first = await open("waiting");
  await admin.query(`create role ordinary login password '${url.password}';
      grant usage on schema waiting to ordinary;
      grant select, insert, update, delete on all tables in schema waiting to ordinary`);
  url.username = "ordinary";
  const pool = openPool({ connectionString: url.href, application_name: "petstore" });
  const storages = [first, await openStorage({ pool, schema: "waiting" })];
  const [storage = expect.unreachable()] = storages;
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  for (const each of storages) (await each.pets.create(rex))._unsafeUnwrap();
  const backends = async () => Number((await admin.query(BACKENDS)).flat()[0]);
  await setStandby(standby);
  await admin.query(begin);
  let charges = 0;
  await whileTimePasses(async () => {
    for (let round = 0; round < 10; round += 1) {
      const creating = storages.map((each, index) => {
        const id = `${round} ${index}`;
        const request = { token: id, fingerprint: "f", now: 9, expiresAt: 10 };
        return Promise.all([each.pets.createOnce(rex, request), each.keys.insert(aKey(id))]);
      });
      for (const each of storages) {
        expect(await chargeOnce(each, "a")).toBe(charges++);
        expect((await each.pets.list({ ...firstPage, after: BigInt(-round) })).isOk()).toBe(true);
        expect((await each.pets.find(1n)).isOk()).toBe(true);
      }
      for (const [created] of await Promise.all(creating)) expect(created.isErr()).toBe(true);
    }
  });
  expect(await backends()).toBeLessThan(30);
  await admin.query("rollback");
  await setStandby("");
  await expect.poll(backends).toBe(0);
  for (const each of storages) expect((await each.pets.create(rex)).isOk()).toBe(true);
});

type Write = (storage: Storage, count: number) => Promise<Result<unknown, StorageError>>;

it.runIf(inCi).each<[what: string, write: Write]>([
  [
    "create",
    ({ pets }, count) =>
      pets.createOnce(rex, { token: `${count}`, fingerprint: "f", now: 1, expiresAt: 2 }),
  ],
  ["import", ({ pets }, count) => pets.import([{ ...rex, id: BigInt(count) }])],
  [
    "update",
    ({ keys }, count) =>
      keys.update("a", (key) => ({
        next: key && key.createdAt < count ? { ...key, createdAt: count } : undefined,
        result: undefined,
      })),
  ],
])("an %s whose wait for a synchronous standby ended fails, and its retry", async (what, write) => {
  const storage = await open(`ended_${what}`);
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  await setStandby("away");
  const end = `select count(pg_terminate_backend(pid))::int from pg_stat_activity where wait_event = 'SyncRep'`;
  let count = 0;
  let settled = 0;
  const written = await whileTimePasses(async () => {
    for (;;) {
      count += 1;
      const writing = write(storage, count).finally(() => (settled += 1));
      while (settled < count) if ((await admin.query(end)).flat()[0] !== 0) return writing;
    }
  });
  expect(written._unsafeUnwrapErr().mayBeStored).toBe(true);
  expect((await whileTimePasses(() => write(storage, count))).isErr()).toBe(true);
  await setStandby("");
  await expect.poll(async () => (await write(storage, count)).isOk()).toBe(true);
  expect(await allIds(storage)).toHaveLength(what === "update" ? 0 : count);
});

it.each(["update", "remove"])("a key leaves no secret: first to run is %s", async (first) => {
  const [here, there] = [await open(`both_${first}`), await open(`both_${first}`)];
  const secret = { digest: "new", hint: "pet_live_new", expiresAt: undefined };
  const rotate = (id: string) =>
    there.keys.update(id, (key) => ({
      next: key && { ...key, secrets: [secret, ...key.secrets] },
      result: key?.id,
    }));
  const remove = () => here.keys.remove(["a", "b"]);
  for (const id of ["a", "b"]) (await here.keys.insert(aKey(id)))._unsafeUnwrap();
  const waiting = "select count(*)::int from pg_locks where not granted";
  await admin.query("begin");
  await admin.query(`select from both_${first}.api_key_usage where key_id = 'a' for update`);
  const one = first === "update" ? rotate("a") : remove();
  await expect.poll(() => admin.query(waiting)).toEqual([[1]]);
  const other = first === "update" ? remove() : rotate("a");
  await expect.poll(() => admin.query(waiting)).toEqual([[2]]);
  await admin.query("rollback");
  const results = { [first]: await one, other: await other };
  expect(Object.values(results).filter((result) => result.isErr())).toEqual([]);
  expect(await admin.query(`select digest from both_${first}.api_key_secrets`)).toEqual([]);
  expect(await admin.query(`select key_id from both_${first}.api_key_usage`)).toEqual([]);
});

it("pets and keys commit synchronously, and wait 0.9 s for a lock, whatever the session of a host's pool has set", async () => {
  const connectionString = server.url();
  const options = "-c synchronous_commit=local -c extra_float_digits=-15";
  const pool = openPool({ connectionString, options, max: 1 });
  const storage = await openStorage({ pool, schema: "levels_of" });
  expect(storage.clock?.now()).toBeCloseTo(Date.now(), -5);
  await admin.query(`create function levels_of.level() returns trigger language plpgsql as
    $$ begin insert into levels_of.levels
      values (current_setting('synchronous_commit'), current_setting('lock_timeout')); return null; end $$;
    create table levels_of.levels (level text, wait text)`);
  for (const table of ["pets", "api_keys"])
    await admin.query(`create constraint trigger level after insert on levels_of.${table}
      deferrable initially deferred for each row execute function levels_of.level()`);
  const binary = openPool(Object.assign({ connectionString }, { binary: true }));
  const refused = (await openPostgresStorage({ pool: binary }))._unsafeUnwrapErr();
  expect(refused.message).toContain("without `binary`");
  await pool.query("set synchronous_commit = off");
  const request = { token: "token", fingerprint: "f", now: 1, expiresAt: 2 };
  (await storage.pets.create(rex))._unsafeUnwrap();
  (await storage.pets.createOnce(rex, request))._unsafeUnwrap();
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  expect(await admin.query("table levels_of.levels")).toEqual(Array(3).fill(["on", "900ms"]));
  expect(await chargeOnce(storage, "a")).toBe(0);
  expect([await usedBy(storage, "a"), await allIds(storage)]).toEqual([1, [1n, 2n]]);
});

it("imports of the same pets at once add each of them once", async () => {
  const storages = await Promise.all(times(3, () => open("imports")));
  const pets = times(1_000, (index) => ({ ...rex, id: BigInt(index + 1) }));
  const imported = await Promise.all(storages.map((each) => each.pets.import(pets)));
  const added = imported.map((result) => result._unsafeUnwrap().added);
  expect(added.toSorted((a, b) => a - b)).toEqual([0, 0, 1_000]);
});

it("a text that PostgreSQL cannot store is found nowhere", async () => {
  const storage = await open("texts");
  (await storage.keys.insert(aKey("a\uFFFD")))._unsafeUnwrap();
  for (const text of ["a\0", "a\uD800"]) {
    expect((await storage.keys.find(text))._unsafeUnwrap()).toBeUndefined();
    expect((await storage.usage.findByDigest(text))._unsafeUnwrap()).toBeUndefined();
    const charge = storage.usage.charge(text, (presented) => ({ result: presented }));
    expect((await charge)._unsafeUnwrap()).toBeUndefined();
  }
  const after = storage.keys.list({ limit: 9, after: "a\0z", banned: false });
  expect((await after)._unsafeUnwrap()).toHaveLength(1);
});

it("a refused value does not appear in the failure", async () => {
  const storage = await open("values");
  const failed = [
    await storage.pets.create({ ...rex, name: "secret\0name" }),
    await storage.keys.insert({ ...aKey("secret"), limits: { perMinute: -7, perDay: 1 } }),
    await storage.keys.insert({ ...aKey("secret"), limits: { perMinute: -7.5, perDay: 1 } }),
    await storage.keys.insert(aKey("secret")).then(() => storage.keys.insert(aKey("secret"))),
  ];
  const messages = failed.map((result) => {
    const { message, cause } = result._unsafeUnwrapErr();
    expect([message, String(cause), JSON.stringify(cause)].join()).not.toMatch(/secret|-7/);
    return message;
  });
  expect(messages).toEqual([
    "Adding a pet failed: a value cannot be stored (22021).",
    "Adding an API key failed: a rule of the schema forbids it (23514).",
    "Adding an API key failed: a value cannot be stored (22P02).",
    "Adding an API key failed: its id is taken.",
  ]);
  expect((await storage.pets.create(rex)).isOk()).toBe(true);
  for (const change of ["inventory set one_row = false", ...WRONG_CHANGES])
    await expect(admin.query(`update "values".${change}`), change).rejects.toThrow("check");
});

it("a server that has changed no key for a week goes on without a warning", async () => {
  const [storage, other] = [await open("idle"), await open("idle")];
  const warnings: StorageWarning[] = [];
  storage.onWarning?.((warning) => warnings.push(warning));
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  await admin.query("update idle.writers set seen_at = now() - interval '8 days'");
  (await other.keys.insert(aKey("b")))._unsafeUnwrap();
  expect(await admin.query("select seq from idle.writers")).toEqual([["1"]]);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 8 * 86_400_000);
  onTestFinished(() => void vi.restoreAllMocks());
  (await storage.keys.insert(aKey("c")))._unsafeUnwrap();
  expect(warnings).toEqual([]);
});

it("servers may open a new schema at once, and every charge of theirs counts once, also of 100 keys and over connections that are ended", async () => {
  postponeDeadlines();
  // With pools of their own, they stand for servers; the name of their new schema is also a word of SQL.
  await admin.query("alter role petstore set default_transaction_isolation = 'repeatable read'");
  const storages = await Promise.all(times(4, () => open("user")));
  const storage = storages[0] ?? expect.unreachable();
  const ids = ["hot", ...times(100, (index) => `key ${(index * seed) % 1_009}`)];
  for (const id of ids) (await storage.keys.insert(aKey(id)))._unsafeUnwrap();
  let ended = 0;
  const charging = storages.map(async (each) => {
    const shown: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const charge = async (id: string) => `${id}: ${await chargeOnce(each, id)}`;
      const charges = [...ids, ...times(64, () => "hot")].map(charge);
      ended += await terminateOne(admin);
      shown.push(...(await Promise.all(charges)));
    }
    return shown;
  });
  const shown = (await Promise.all(charging)).flat();
  expect(ended).toBeGreaterThan(0);
  expect(new Set(shown).size).toBe(shown.length);
  for (const id of ids)
    expect(await usedBy(storage, id)).toBe(4 * ROUNDS * (id === "hot" ? 65 : 1));
  const deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
  expect(await admin.query(deadlocks)).toEqual([["0"]]);
});
