import { Agent } from "node:http";
import fc from "fast-check";
import type { PetStore, RateLimits } from "@petstore/core";
import { expect, it, onTestFinished } from "vitest";
import { seed, sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { createProxy } from "../../../storage-postgres/test/support/proxy.js";
import { startBuilt, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, count, send, sendAll } from "../support/client.js";
import { openBeside } from "../support/open-beside.js";

const SERVERS = sized(2, 4, 4);
const KEYS = sized(60, 100, 100);
const PLAN: RateLimits = { perMinute: 60, perDay: 1_000 };
const SMALL: RateLimits = { perMinute: 2, perDay: 1_000 };

const ROUNDS = sized(2, 20, 200);

const postgres = usePostgres();
const program = useBuiltPetstore();

interface Key {
  readonly id: string;
  readonly secret: string;
  readonly due: number;
}

async function issue({ keys }: PetStore, limits: RateLimits): Promise<Key> {
  const plan = limits === PLAN ? { plan: "free" } : { plan: "enterprise", limits };
  const { key, secret } = (await keys.issue(plan))._unsafeUnwrap();
  return { id: key.id, secret, due: limits.perMinute };
}

/** Twice the requests that each key may send, in any order. */
function twiceThePlan(keys: readonly Key[], round: number): readonly string[] {
  const secrets = keys.flatMap(({ secret, due }) => Array.from({ length: 2 * due }, () => secret));
  const anyOrder = fc.shuffledSubarray(secrets, { minLength: secrets.length });
  return fc.sample(anyOrder, { seed: seed + round, numRuns: 1 }).flat();
}

it(`${SERVERS} servers admit exactly the plan of one key and of ${KEYS} keys, also when they are killed, ${ROUNDS} times`, async () => {
  const operator = await openBeside(postgres.url());
  const admin = await connectAdmin(postgres.url());
  const url = postgres.url();
  // One of them has a clock of its own that is an hour ahead.
  const servers = [
    await startWithClock(url, HOUR, 0),
    ...(await Promise.all(
      Array.from({ length: SERVERS - 1 }, () => startServer("--database", url)),
    )),
  ];
  const total = { admitted: 0, lost: 0, ended: 0 };

  for (let round = 0; round < ROUNDS; round += 1) {
    const isCalm = round % 2 === 0;
    const issuing = Array.from({ length: KEYS }, () => issue(operator, SMALL));
    const keys = [await issue(operator, PLAN), ...(await Promise.all(issuing))];
    const failures: Promise<unknown>[] = [];
    const fail = async (received: number): Promise<void> => {
      if (received % 30 === 0) total.ended += await terminateOne(admin);
      if (received === 100 + ((round * 37) % 100))
        await servers.splice(round % SERVERS, 1)[0]?.end("SIGKILL");
    };

    const onReply = (received: number) => void (isCalm || failures.push(fail(received)));
    const sent = [...(await sendAll([...servers], twiceThePlan(keys, round), onReply))];
    await Promise.all(failures);
    if (!isCalm) {
      servers.push(await startServer("--database", url));
      sent.push(...(await sendAll(servers, twiceThePlan(keys, round))));
    }

    const failed = `seed ${seed}, round ${round}`;
    for (const { id, secret, due } of keys) {
      const own = sent.filter((each) => each.secret === secret);
      const [admitted, lost] = [count(own, 200), count(own, "lost")];
      // A response that was lost with the killed server may have been a 200; no other 200 may be missing.
      expect(admitted, failed).toBeLessThanOrEqual(due);
      expect(admitted + lost, failed).toBeGreaterThanOrEqual(due);
      expect(admitted + count(own, 429) + lost, failed).toBe(own.length);
      if (isCalm) expect(lost, failed).toBe(0);
      const { minute } = (await operator.keys.find(id))._unsafeUnwrap().usage;
      expect(minute.remaining, failed).toBe(0);
      total.admitted += admitted;
      total.lost += lost;
    }
  }
  console.info(JSON.stringify(total));
  // Otherwise nothing was interrupted.
  expect(total.lost).toBeGreaterThan(0);
  expect(total.ended).toBeGreaterThan(0);
});

// A Free key has 60 requests a minute, and 1,000 a day.
const MINUTES = sized(0, 10, 16);
const HOUR = 3_600_000;

/** Starts a server whose machine's clock differs by this many milliseconds, and is set by SIGUSR2. */
function startWithClock(url: string, offset: number, step: number) {
  const script = `const now = Date.now; let offset = ${offset}; Date.now = () => now() + offset;
    process.on("SIGUSR2", () => { offset += ${step}; });`;
  const command = [process.execPath, "--import", `data:text/javascript,${script}`, program()];
  return startBuilt(command, "--database", url);
}

/** Puts a clock that tests move by hand in front of PostgreSQL's own, for every later connection. */
const MANUAL_CLOCK = `
  create schema manual;
  create table manual.clock (ahead interval);
  insert into manual.clock values ('0');
  create function manual.clock_timestamp() returns timestamptz language sql as
    'select pg_catalog.clock_timestamp() + ahead from manual.clock';
  alter database clocks set search_path = manual, pg_catalog, public`;

it.runIf(MINUTES > 0)(
  "servers whose own clocks differ, and are set, admit exactly the plan in each minute",
  async () => {
    await (await connectAdmin(postgres.url())).query("create database clocks");
    const url = postgres.url("clocks");
    const admin = await connectAdmin(url);
    await admin.query(MANUAL_CLOCK);
    const { keys } = await openBeside(url);
    const servers = await Promise.all([
      startWithClock(url, 0, HOUR),
      startWithClock(url, 5_000, -HOUR),
    ]);
    const { secret, key } = (await keys.issue({ plan: "free" }))._unsafeUnwrap();
    const admitted = [];
    for (let minute = 0; minute < MINUTES; minute += 1) {
      const sent = await sendAll(servers, Array<string>(150).fill(secret), (received) => {
        if (received === 30) process.kill(servers[minute % 2]?.pid ?? NaN, "SIGUSR2");
      });
      expect(count(sent, 429)).toBe(90);
      admitted.push(count(sent, 200));
      await admin.query("update manual.clock set ahead = ahead + interval '61 seconds'");
      (await keys.liftBan(key.id))._unsafeUnwrap();
    }
    expect(admitted).toEqual(Array(MINUTES).fill(60));
    for (const server of servers) expect(await server.end()).toBe(0);
  },
);

it.runIf(sized(0, 1, 1))(
  "while a server is cut off from PostgreSQL, no call of the other servers waits for it",
  async () => {
    const { keys } = await openBeside(postgres.url());
    const limits = { perMinute: 1e6, perDay: 1e6 };
    const { secret } = (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
    const proxy = await createProxy(postgres.port);
    onTestFinished(() => proxy.close());
    const cutOff = await startServer("--database", proxy.url(postgres.url()));
    const others = [await startServer("--database", postgres.url())];
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const create = (url: string) => addPet(url, agent, secret, "Rex");
    const list = (url: string) => send(`${url}/pets`, agent, secret);
    const everywhere = (to: readonly { readonly url: string }[]) =>
      Promise.all(to.flatMap(({ url }) => [create(url), list(url)]));

    await everywhere([cutOff, ...others]);
    const unanswered = Promise.all(Array.from({ length: 10 }, () => create(cutOff.url)));
    await everywhere(others);
    proxy.freeze(true);
    const served: unknown[] = [];
    for (let round = 0; round < 50; round += 1)
      served.push(...(await everywhere(others)).map(({ status }) => status));
    expect(served).toEqual(Array.from({ length: 50 }, () => [201, 200]).flat());
    for (const { status } of await unanswered) expect([201, 503]).toContain(status);
    proxy.freeze(false);
    await expect.poll(async () => (await create(cutOff.url)).status).toBe(201);
  },
);
