import fc from "fast-check";
import type { PetStore, RateLimits } from "@petstore/core";
import { expect, it } from "vitest";
import { seed, sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startBuilt, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { count, sendAll } from "../support/client.js";
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
  const servers = [
    await startAhead(url),
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

    const onReply = (received: number): void => {
      if (!isCalm) failures.push(fail(received));
    };
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

/** Starts a server whose machine's clock is an hour ahead. */
function startAhead(url: string) {
  const script = "const now = Date.now; Date.now = () => now() + 3_600_000;";
  const command = [process.execPath, "--import", `data:text/javascript,${script}`, program()];
  return startBuilt(command, "--database", url);
}
