import { createPetsClient } from "@petstore/client";
import { expect, it } from "vitest";
import { inCi, sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { startPostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addOverKills, addPet, addUntilDone, byHand, expectStored } from "../support/client.js";
import { WRITERS, type Add } from "../support/client.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";

useBuiltPetstore();

/** Starts servers on a database. `restart` kills one of them, and starts it again on its port. */
async function startServers(database: string, count: number) {
  const start = (port = "0") => startServer("--database", database, "--port", port);
  const servers = await Promise.all(Array.from({ length: count }, () => start()));
  const urls = servers.map(({ url }) => url);
  const restart = async (index: number): Promise<void> => {
    await servers[index]?.end("SIGKILL");
    servers[index] = await start(new URL(urls[index] ?? "").port);
  };
  return { urls, restart };
}

function byClient({ url }: { readonly url: string }, apiKey: string, onRetry: () => void): Add {
  const pets = createPetsClient({
    ...{ baseUrl: url, apiKey, maxInFlight: WRITERS },
    ...{ attempts: 1_000, deadlineSeconds: 3_600, backoffSeconds: 0.1 },
    onEvent: ({ type }) => (type === "retrying" ? onRetry() : undefined),
  });
  return async (name) => {
    const { pet } = (await pets.createPet({ name, categoryId: 1 }))._unsafeUnwrap();
    return { status: 201, body: `{"id":${pet.id}}`, remaining: NaN };
  };
}

it.runIf(inCi).each([
  ["requests", byHand, sized(0, 50, 1_000)],
  ["calls of a client", byClient, sized(0, 20, 200)],
] as const)("keeps acknowledged pets, repeated %s once, over kills", async (_, by, kills) => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const { urls, restart } = await startServers(database, 1);
  let retries = 0;
  const add = by({ url: urls[0] ?? "" }, secret, () => (retries += 1));
  await expectStored(database, await addOverKills(add, kills, () => restart(0)));
  expect(retries).toBeGreaterThanOrEqual(kills);
});

const KILLS = sized(0, 20, 200);

it.runIf(inCi)(
  `stores each retried create exactly once over ${KILLS} kills of servers, backends and PostgreSQL`,
  async () => {
    const postgres = await startPostgres();
    const database = postgres.url();
    const secret = await issueUnlimitedKey(database);
    const { urls, restart } = await startServers(database, 2);
    let [sent, retries, ended] = [0, 0, 0];
    const add: Add = (name, agent) => {
      const addOnce = async () => {
        const reply = await addPet(urls[(sent += 1) % 2] ?? "", agent, secret, name, name);
        return reply.status === 503 ? undefined : reply;
      };
      return addUntilDone(addOnce, () => (retries += 1));
    };
    const kill = async (count: number): Promise<void> => {
      if (count % 3 === 0) return restart(count % 2);
      if (count % 3 === 1) {
        await postgres.kill();
        return postgres.start();
      }
      const admin = await connectAdmin(database);
      for (let backends = 0; backends < 8; backends += 1) ended += await terminateOne(admin);
    };
    expect(await expectStored(database, await addOverKills(add, KILLS, kill))).toBe(0);
    expect(retries).toBeGreaterThanOrEqual(KILLS / 3);
    expect(ended).toBeGreaterThan(0);
  },
);
