import type { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { createPostgresServer } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, addUntilDone, startWriters, type Reply } from "../support/client.js";
import { issueUnlimitedKey, newDatabase, petstore } from "../support/command.js";

const WRITERS = 24;

useBuiltPetstore();

type Add = (name: string, agent: Agent) => Promise<Reply | undefined>;

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

/** Adds pets over kills. Resolves to the ids of the pets that were acknowledged, by their names. */
async function addOverKills(add: Add, kills: number, kill: (count: number) => Promise<unknown>) {
  const { created, stop } = startWriters(WRITERS, add);
  for (let count = 0; count < kills; count += 1) {
    const before = created.size;
    await expect.poll(() => created.size, { interval: 1 }).toBeGreaterThan(before + WRITERS);
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((count * 37) % 120);
    await kill(count);
  }
  await stop();
  return created;
}

/** Expects that these pets are stored once each. Returns the number of others. */
async function expectStored(database: string, created: ReadonlyMap<string, number>) {
  const { out } = await petstore("pets", "export", "--database", database);
  const pets = out.split("\n").map((line) => JSON.parse(line) as { id: number; name: string });
  const stored = new Map(pets.map(({ id, name }) => [name, id]));
  expect(stored.size).toBe(pets.length);
  expect([...created].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
  return pets.length - created.size;
}

/** Half of the creates are repeated until there is a response; the others are given up if they lose theirs. */
function byHand(url: string, secret: string, onRetry: () => void): Add {
  return async (name, agent) => {
    const isRepeated = Number.parseInt(name) % 2 === 0;
    if (isRepeated) return addUntilDone(() => addPet(url, agent, secret, name, name), onRetry);
    return addPet(url, agent, secret, name).catch(() => setTimeout(5));
  };
}

function byClient(baseUrl: string, apiKey: string, onRetry: () => void): Add {
  const pets = createPetsClient({
    ...{ baseUrl, apiKey, maxInFlight: WRITERS },
    // However slow this machine restarts a server, no call gives up.
    ...{ attempts: 1_000, deadlineSeconds: 3_600, backoffSeconds: 0.1 },
    onEvent: ({ type }) => (type === "retrying" ? onRetry() : undefined),
  });
  return async (name) => {
    const { pet } = (await pets.createPet({ name, categoryId: 1 }))._unsafeUnwrap();
    return { status: 201, body: `{"id":${pet.id}}`, remaining: NaN, retryAfter: NaN };
  };
}

const CREATES = [
  ["requests", byHand, sized(1, 50, 1_000)],
  ["calls of a client", byClient, sized(0, 20, 200)],
] as const;

it.each(CREATES.filter(([, , kills]) => kills > 0))(
  "keeps each acknowledged pet, and stores each pet of repeated %s once, over kills",
  async (_, by, kills) => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const { urls, restart } = await startServers(database, 1);
    let retries = 0;
    const add = by(urls[0] ?? "", secret, () => (retries += 1));
    await expectStored(database, await addOverKills(add, kills, () => restart(0)));
    const reader = new Database(database, { readonly: true });
    expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    reader.close();
    expect(retries).toBeGreaterThanOrEqual(kills);
  },
);

const KILLS = sized(0, 20, 200);

it.runIf(KILLS > 0)(
  `stores each retried create exactly once over ${KILLS} kills of servers, backends and PostgreSQL`,
  async () => {
    const postgres = createPostgresServer();
    onTestFinished(() => postgres.remove());
    onTestFinished(() => postgres.stop());
    await postgres.start();
    const database = postgres.url();
    const secret = await issueUnlimitedKey(database);
    const { urls, restart } = await startServers(database, 2);
    let [sent, retries, ended] = [0, 0, 0];
    const add: Add = (name, agent) =>
      addUntilDone(
        async () => {
          const url = urls[(sent += 1) % 2] ?? "";
          const reply = await addPet(url, agent, secret, name, name);
          return reply.status === 503 ? undefined : reply;
        },
        () => (retries += 1),
      );
    const kill = async (count: number): Promise<void> => {
      if (count % 3 === 0) return restart(count % 2);
      if (count % 3 === 1) {
        await postgres.kill();
        return postgres.start();
      }
      const admin = await connectAdmin(database);
      for (let backends = 0; backends < 8; backends += 1) ended += await terminateOne(admin);
    };
    const created = await addOverKills(add, KILLS, kill);
    expect(await expectStored(database, created)).toBe(0);
    expect(retries).toBeGreaterThanOrEqual(KILLS / 3);
    expect(ended).toBeGreaterThan(0);
  },
);
