import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet } from "../support/client.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";

const KILLS = sized(1, 20, 200);
const WRITERS = 24;

const program = useBuiltPetstore();

/** Creates a pet, and repeats the request until the pet is there. Resolves to its id. */
type Create = (name: string) => Promise<number>;

/** Sends the same request again. */
function byHand(url: string, secret: string, onRetry: () => void): Create {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  return async (name) => {
    for (;;) {
      const reply = await addPet(url, agent, secret, name, name).catch(() => undefined);
      if (reply?.status === 201) return (JSON.parse(reply.body) as { id: number }).id;
      if (reply !== undefined) throw new Error(`${reply.status}: ${reply.body}`);
      onRetry();
      await setTimeout(5);
    }
  };
}

function byClient(baseUrl: string, apiKey: string, onRetry: () => void): Create {
  const pets = createPetsClient({
    ...{ baseUrl, apiKey, maxInFlight: WRITERS },
    // However slow this machine restarts a server, no call gives up.
    ...{ attempts: 1_000, deadlineSeconds: 3_600, backoffSeconds: 0.1 },
    onEvent: ({ type }) => (type === "retrying" ? onRetry() : undefined),
  });
  return async (name) =>
    Number((await pets.createPet({ name, categoryId: 1 }))._unsafeUnwrap().pet.id);
}

it.each([
  ["request", byHand, KILLS],
  ["call of a client", byClient, sized(0, KILLS, KILLS)],
] as const)("stores the pet of each repeated %s exactly once over kills", async (_, by, kills) => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const start = (...more: readonly string[]) =>
    startBuilt([process.execPath, program()], "--database", database, ...more);
  let server = await start();
  let [retries, isOver] = [0, false];
  const create = by(server.url, secret, () => (retries += 1));
  const created = new Map<string, number>();
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const name = `${writer}-${count}`;
      created.set(name, await create(name));
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

  for (let kill = 0; kill < kills; kill += 1) {
    const before = created.size;
    await expect.poll(() => created.size, { interval: 1 }).toBeGreaterThan(before + WRITERS);
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((kill * 37) % 120);
    await server.end("SIGKILL");
    server = await start("--port", new URL(server.url).port);
  }
  isOver = true;
  await writing;

  const reader = new Database(database, { readonly: true });
  const stored = reader.prepare("select name, id from pets order by id").raw().all();
  reader.close();
  console.info(`${kills} kills, ${created.size} creates, ${retries} retries`);
  expect(stored).toEqual([...created].toSorted(([, one], [, other]) => one - other));
  expect(retries).toBeGreaterThanOrEqual(kills);
});
