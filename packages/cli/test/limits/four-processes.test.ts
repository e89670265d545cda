import fc from "fast-check";
import type { KeyRing } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { sized, seed } from "../../../../scripts/test-size.js";
import { newDatabase } from "../support/command.js";
import { startServer, useBuiltPetstore, type BuiltServer } from "../support/built-petstore.js";
import { CONNECTIONS, count, sendAll } from "../support/client.js";
import { openBeside } from "../support/open-beside.js";

useBuiltPetstore();

const PROCESSES = sized(2, 4, 4);
const ROUNDS = sized(1, 20, 200);
const KILLS = sized(1, 2, 20);

interface Round {
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  /** The number of requests that are sent beyond the plan's. */
  readonly excess: number;
  /** Whether the key is in the middle of a rotation: half of the requests bring the old secret. */
  readonly rotated: boolean;
}

const rounds: fc.Arbitrary<Round> = fc.record({
  limits: fc
    .record({
      perMinute: fc.integer({ min: 100, max: 700 }),
      perDay: fc.oneof(fc.integer({ min: 100, max: 700 }), fc.constant(100_000)),
    })
    .filter(({ perMinute, perDay }) => perMinute !== perDay),
  excess: fc.integer({ min: 1, max: 300 }),
  rotated: fc.boolean(),
});

/** How many requests a key may send. */
const dueOf = ({ limits }: Round): number => Math.min(limits.perMinute, limits.perDay);

/** Many enough that the kill comes in the middle. */
const killRounds = rounds.filter((round) => dueOf(round) >= 4 * CONNECTIONS + 100);

describe(`${PROCESSES} processes with ${CONNECTIONS} connections each, on one file`, () => {
  it(`admit exactly the limit, ${ROUNDS} times of ${ROUNDS}, and refuse a revoked key at once`, async () => {
    const database = newDatabase();
    const { keys } = await openBeside(database);
    const servers = await startServers(database);

    for (const round of fc.sample(rounds, { seed, numRuns: ROUNDS })) {
      const { limits, excess } = round;
      const due = dueOf(round);
      const { id, secrets } = await issue(keys, round);
      const replies = await sendAll(servers, secrets);

      const failed = `seed ${seed}, ${JSON.stringify(round)}`;
      expect({ admitted: count(replies, 200), refused: count(replies, 429) }, failed).toEqual({
        admitted: due,
        refused: excess,
      });
      // Each of the tokens was given to one request, and no two got the same remaining count.
      const admitted = replies.filter(({ status }) => status === 200);
      expect(new Set(admitted.map(({ remaining }) => remaining)), failed).toEqual(
        new Set(Array.from({ length: due }, (_, remaining) => remaining)),
      );
      for (const { status, retryAfter } of replies) {
        if (status === 429) expect(retryAfter, failed).toBeGreaterThanOrEqual(1);
      }
      expect((await keys.find(id))._unsafeUnwrap().usage, failed).toMatchObject({
        minute: { remaining: limits.perMinute - due },
        day: { remaining: limits.perDay - due },
      });
    }

    const { key, secret } = (await keys.issue({ plan: "business" }))._unsafeUnwrap();
    const statuses = async () => {
      const replies = await Promise.all(servers.map((server) => sendAll([server], [secret])));
      return replies.flat().map(({ status }) => status);
    };
    expect(await statuses()).toEqual(servers.map(() => 200));
    (await keys.revoke(key.id))._unsafeUnwrap();
    expect(await statuses()).toEqual(servers.map(() => 401));
  });

  it(`admit no more when one of them is killed and started again, ${KILLS} times`, async () => {
    const database = newDatabase();
    const { keys } = await openBeside(database);
    let servers = await startServers(database);
    let lost = 0;

    for (const round of fc.sample(killRounds, { seed, numRuns: KILLS })) {
      const { limits } = round;
      const due = dueOf(round);
      const { id, secrets } = await issue(keys, round);
      const [victim, ...others] = servers;
      const interrupted = await sendAll(servers, secrets, (received) => {
        if (received === 30) void victim?.end("SIGKILL");
      });
      await victim?.ended;
      servers = [...others, await startServer("--database", database)];
      const replies = [...interrupted, ...(await sendAll(servers, secrets))];

      // A response that was lost with the killed process may have been a 200; no other 200 may be missing.
      const failed = `seed ${seed}, ${JSON.stringify(round)}`;
      const admitted = count(replies, 200);
      expect(admitted, failed).toBeLessThanOrEqual(due);
      expect(admitted + count(replies, "lost"), failed).toBeGreaterThanOrEqual(due);
      expect(count(interrupted, "lost"), failed).toBeLessThanOrEqual(CONNECTIONS);
      lost += count(interrupted, "lost");
      const { usage } = (await keys.find(id))._unsafeUnwrap();
      expect(limits.perMinute - usage.minute.remaining, failed).toBe(due);
      expect(limits.perDay - usage.day.remaining, failed).toBe(due);
    }
    // Otherwise nothing was interrupted.
    expect(lost).toBeGreaterThan(0);
  });
});

async function startServers(database: string): Promise<readonly BuiltServer[]> {
  const start = () => startServer("--database", database);
  return Promise.all(Array.from({ length: PROCESSES }, start));
}

/** A fresh key, so that no round waits for the window of another, and the secret of each request of the round. */
async function issue(keys: KeyRing, round: Round) {
  const { limits, excess, rotated } = round;
  const { key, secret } = (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
  const other = rotated
    ? (await keys.rotate(key.id, { overlapSeconds: 3_600 }))._unsafeUnwrap().secret
    : secret;
  const requests = dueOf(round) + excess;
  const secrets = Array.from({ length: requests }, (_, index) => (index % 2 ? other : secret));
  return { id: key.id, secrets };
}
