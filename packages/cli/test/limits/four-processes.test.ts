import fc from "fast-check";
import type { PetStore } from "@petstore/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { sized, seed } from "../../../../scripts/test-size.js";
import { newDatabase } from "../support/command.js";
import { startServer, useBuiltPetstore, type BuiltServer } from "../support/built-petstore.js";
import { burst, CONNECTIONS, count, createClient, type Client } from "../support/client.js";
import { openBeside } from "../support/in-process.js";

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

/** Many enough that the kill comes in the middle. */
const killRounds = rounds.filter(
  ({ limits }) => Math.min(limits.perMinute, limits.perDay) >= 4 * CONNECTIONS + 100,
);

describe(`${String(PROCESSES)} processes with ${String(CONNECTIONS)} connections each, on one file`, () => {
  it(`admit exactly the limit, ${String(ROUNDS)} times of ${String(ROUNDS)}, and refuse a revoked key at once`, async () => {
    const database = newDatabase();
    const operator = await openBeside(database);
    const clients = (await startServers(database)).map(connect);

    for (const round of fc.sample(rounds, { seed, numRuns: ROUNDS })) {
      const { limits, excess } = round;
      const due = Math.min(limits.perMinute, limits.perDay);
      const { id, secrets } = await issue(operator, round);
      const replies = await burst(clients, secrets, due + excess);

      const failed = `seed ${String(seed)}, ${JSON.stringify(round)}`;
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
      expect((await operator.keys.find(id))._unsafeUnwrap().usage, failed).toMatchObject({
        minute: { remaining: limits.perMinute - due },
        day: { remaining: limits.perDay - due },
      });
    }

    const { key, secret } = (await operator.keys.issue({ plan: "business" }))._unsafeUnwrap();
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.list(secret)).status));
    expect(await statuses()).toEqual(clients.map(() => 200));
    (await operator.keys.revoke(key.id))._unsafeUnwrap();
    expect(await statuses()).toEqual(clients.map(() => 401));
  });

  it(`admit no more when one of them is killed and started again, ${String(KILLS)} times`, async () => {
    const database = newDatabase();
    const operator = await openBeside(database);
    const servers = await startServers(database);
    let lost = 0;

    for (const round of fc.sample(killRounds, { seed, numRuns: KILLS })) {
      const { limits, excess } = round;
      const due = Math.min(limits.perMinute, limits.perDay);
      const { id, secrets } = await issue(operator, round);
      const clients = servers.map(connect);

      const first = burst(clients, secrets, due + excess);
      await someAdmitted(operator, id);
      const [victim] = servers.splice(0, 1);
      await victim?.end("SIGKILL");
      const interrupted = await first;
      const again = await startServer("--database", database);
      servers.push(again);
      const replies = [
        ...interrupted,
        ...(await burst([...clients.slice(1), connect(again)], secrets, due + excess)),
      ];

      // A response that was lost with the killed process may have been a 200; no other 200 may be missing.
      const failed = `seed ${String(seed)}, ${JSON.stringify(round)}`;
      const admitted = count(replies, 200);
      expect(admitted, failed).toBeLessThanOrEqual(due);
      expect(admitted + count(replies, "lost"), failed).toBeGreaterThanOrEqual(due);
      expect(count(interrupted, "lost"), failed).toBeLessThanOrEqual(CONNECTIONS);
      lost += count(interrupted, "lost");
      const { usage } = (await operator.keys.find(id))._unsafeUnwrap();
      expect(limits.perMinute - usage.minute.remaining, failed).toBe(due);
      expect(limits.perDay - usage.day.remaining, failed).toBe(due);
    }
    // Otherwise nothing was interrupted.
    expect(lost).toBeGreaterThan(0);
  });
});

async function startServers(database: string): Promise<BuiltServer[]> {
  const start = () => startServer("--database", database);
  return Promise.all(Array.from({ length: PROCESSES }, start));
}

function connect({ url }: BuiltServer): Client {
  const client = createClient(url, CONNECTIONS);
  onTestFinished(() => client.close());
  return client;
}

/** A fresh key, so that no round waits for the window of another. */
async function issue(
  { keys }: PetStore,
  { limits, rotated }: Round,
): Promise<{ readonly id: string; readonly secrets: readonly string[] }> {
  const { key, secret } = (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
  if (!rotated) return { id: key.id, secrets: [secret] };
  const again = (await keys.rotate(key.id, { overlapSeconds: 3_600 }))._unsafeUnwrap();
  return { id: key.id, secrets: [secret, again.secret] };
}

/** Resolves when the burst is well under way. */
async function someAdmitted({ keys }: PetStore, id: string): Promise<void> {
  let remaining: number;
  let limit: number;
  do {
    ({ remaining, limit } = (await keys.find(id))._unsafeUnwrap().usage.minute);
    await new Promise((resolve) => setImmediate(resolve));
  } while (limit - remaining < 30);
}
