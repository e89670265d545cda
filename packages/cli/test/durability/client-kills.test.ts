import { setTimeout } from "node:timers/promises";
import { createPetsClient } from "@petstore/client";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";

const KILLS = sized(0, 20, 200);
const WRITERS = 24;

const program = useBuiltPetstore();

it.runIf(KILLS > 0)(`adds each pet exactly once through a client over ${KILLS} kills`, async () => {
  const database = newDatabase();
  const apiKey = await issueUnlimitedKey(database);
  const start = (...more: readonly string[]) =>
    startBuilt([process.execPath, program()], "--database", database, ...more);
  let server = await start();
  const port = new URL(server.url).port;
  let [retries, isOver] = [0, false];
  const failures: unknown[] = [];
  const pets = createPetsClient({
    ...{ baseUrl: server.url, apiKey, maxInFlight: WRITERS },
    // However slow this machine restarts a server, no call gives up.
    ...{ attempts: 1_000, deadlineSeconds: 3_600, backoffSeconds: 0.1 },
    onEvent: ({ type }) => (retries += type === "retrying" ? 1 : 0),
  });
  const created = new Map<string, bigint>();
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const name = `${writer}-${count}`;
      const outcome = await pets.createPet({ name, categoryId: 1 });
      if (outcome.isOk()) created.set(name, outcome.value.pet.id);
      else failures.push(outcome.error);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = created.size;
    await expect
      .poll(() => created.size, { interval: 1, timeout: 30_000 })
      .toBeGreaterThan(before + WRITERS);
    await setTimeout((kill * 37) % 120);
    await server.end("SIGKILL");
    server = await start("--port", port);
  }
  isOver = true;
  await writing;

  const reader = new Database(database, { readonly: true });
  const stored = reader
    .prepare<[], { name: string; id: number }>("select name, id from pets")
    .all();
  reader.close();
  console.info(`${KILLS} kills, ${created.size} creates, ${retries} retries`);
  expect(failures).toEqual([]);
  expect(new Map(stored.map(({ name, id }) => [name, BigInt(id)]))).toEqual(created);
  expect(stored).toHaveLength(created.size);
  expect(retries).toBeGreaterThan(0);
});
