import { expect, it, onTestFinished } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { newDatabase } from "../support/command.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { burst, count, createClient } from "../support/client.js";
import { openBeside } from "../support/in-process.js";

useBuiltPetstore();

const BAD_REQUESTS = sized(300, 3_000, 30_000);

it("a good client at the attacker's own address is served throughout the attack", async () => {
  const database = newDatabase();
  const operator = await openBeside(database);
  const server = await startServer("--database", database);
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const { secret } = (await operator.keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
  const attacker = createClient(server.url, 64);
  const good = createClient(server.url, 1);
  onTestFinished(() => {
    attacker.close();
    good.close();
  });

  const attack = burst([attacker], ["pet_live_bad", "", secret.slice(0, -1)], BAD_REQUESTS);
  const after = attack.then(() => "after" as const);
  let served = 0;
  let when: "during" | "after";
  do {
    const answered = good.list(secret);
    when = await Promise.race([answered.then(() => "during" as const), after]);
    expect((await answered).status).toBe(200);
    served += 1;
  } while (when === "during");

  const replies = await attack;
  // The address has the Free plan's limit for bad keys; beyond it they are refused as too many.
  expect({ bad: count(replies, 401), tooMany: count(replies, 429) }).toEqual({
    bad: 60,
    tooMany: BAD_REQUESTS - 60,
  });
  expect(served).toBeGreaterThan(0);
});
