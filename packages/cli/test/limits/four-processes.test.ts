import fc from "fast-check";
import type { KeyRing } from "@petstore/core";
import { expect, it } from "vitest";
import { inCi, seed, sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { startPostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startBuilt, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { newDatabase, openBeside } from "../support/command.js";
import { CONNECTIONS, count, sendAll } from "../support/client.js";

const program = useBuiltPetstore();
const PROCESSES = 4;
/** A process is killed in every second one. */
const ROUNDS = sized(0, 20, 200);

/** Many enough that a kill comes in the middle. */
const aLimit = fc.integer({ min: PROCESSES * CONNECTIONS + 100, max: 500 });

/** The limits of a key, and how many requests are sent beyond those that it may send. */
const large = fc.record({
  limits: fc
    .record({ perMinute: aLimit, perDay: fc.oneof(aLimit, fc.constant(100_000)) })
    .filter(({ perMinute, perDay }) => perMinute !== perDay),
  excess: fc.integer({ min: 1, max: 300 }),
  /** Whether the key is in the middle of a rotation: half of the requests bring the old secret. */
  isRotated: fc.boolean(),
});

type Round = typeof large extends fc.Arbitrary<infer Generated> ? Generated : never;

const twice = (perMinute: number): Round => ({
  ...{ limits: { perMinute, perDay: 1_000 }, excess: perMinute, isRotated: false },
});

it.runIf(inCi).each([
  ["one file", large, 10],
  ["one PostgreSQL database, a clock an hour ahead", fc.constant(twice(60)), 100],
] as const)(
  `${PROCESSES} processes with ${CONNECTIONS} connections each, on %s, admit exactly the limit of each key, also if one is killed, ${ROUNDS} times`,
  async (name, rounds, smallKeys) => {
    const isFile = name === "one file";
    const database = isFile ? newDatabase() : (await startPostgres()).url();
    const { keys } = await openBeside(database);
    const admin = isFile ? undefined : await connectAdmin(database);
    const others = Array.from({ length: PROCESSES - 1 }, () => startServer("--database", database));
    const first = isFile ? startServer("--database", database) : startAhead(database);
    const servers = await Promise.all([first, ...others]);
    const total = { lost: 0, ended: 0 };

    for (const [index, round] of fc.sample(rounds, { seed, numRuns: ROUNDS }).entries()) {
      const failed = `seed ${seed}, round ${index}, ${JSON.stringify(round)}`;
      const isCalm = index % 2 === 0;
      const small = Array.from({ length: smallKeys }, () => issue(keys, twice(2)));
      const issued = [await issue(keys, round), ...(await Promise.all(small))];
      const failures: Promise<unknown>[] = [];
      const disturb = async (received: number): Promise<void> => {
        if (admin && received % 30 === 0) total.ended += await terminateOne(admin);
        if (received === 30 + ((index * 37) % 100))
          await servers.splice(index % PROCESSES, 1)[0]?.end("SIGKILL");
      };
      const onReply = (received: number) => isCalm || failures.push(disturb(received));
      const all = issued.flatMap((key) => key.secrets);
      const inAnyOrder = fc.shuffledSubarray(all, { minLength: all.length });
      const secrets = fc.sample(inAnyOrder, { seed: seed + index, numRuns: 1 }).flat();
      const replies = [...(await sendAll([...servers], secrets, onReply))];
      await Promise.all(failures);
      const lost = count(replies, "lost");
      expect(lost, failed).toBeLessThanOrEqual(isCalm ? 0 : CONNECTIONS);
      total.lost += lost;
      if (!isCalm) {
        servers.push(await startServer("--database", database));
        replies.push(...(await sendAll(servers, secrets)));
      }

      for (const { id, limits, due, secrets } of issued) {
        const own = replies.filter(({ secret }) => secrets.includes(secret));
        const [admitted, refused] = [count(own, 200), count(own, 429)];
        // A response that was lost with the killed process may have been a 200; no other 200 may be missing.
        const isExact = admitted <= due && admitted + count(own, "lost") >= due;
        expect(isExact, `${failed}: ${admitted} of ${due}`).toBe(true);
        expect(admitted + refused + count(own, "lost"), failed).toBe(own.length);
        const { usage, bannedUntil } = (await keys.find(id))._unsafeUnwrap();
        const remaining = (limit: number) => (bannedUntil === undefined ? limit - due : 0);
        expect(usage, failed).toMatchObject({
          minute: { remaining: remaining(limits.perMinute) },
          day: { remaining: remaining(limits.perDay) },
        });
        if (!isCalm) continue;
        // Each of the tokens was given to one request, and no two got the same remaining count.
        const left = own.filter(({ status }) => status === 200).map(({ remaining }) => remaining);
        left.sort((a, b) => a - b);
        expect(left, failed).toEqual([...Array(due).keys()]);
      }
    }
    expect(total.lost).toBeGreaterThan(0);
    expect(total.ended > 0).toBe(!isFile);
  },
);

/** A fresh key, so that no round waits for the window of another, and the secrets of its requests. */
async function issue(keys: KeyRing, { limits, excess, isRotated }: Round) {
  const { key, secret } = (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
  const other = isRotated
    ? (await keys.rotate(key.id, { overlapSeconds: 3_600 }))._unsafeUnwrap().secret
    : secret;
  const due = Math.min(limits.perMinute, limits.perDay);
  const secrets = Array.from({ length: due + excess }, (_, index) => (index % 2 ? other : secret));
  return { id: key.id, limits, due, secrets };
}

function startAhead(url: string) {
  const script = "const now = Date.now; Date.now = () => now() + 3_600_000;";
  const command = [process.execPath, "--import", `data:text/javascript,${script}`, program()];
  return startBuilt(command, "--database", url);
}
