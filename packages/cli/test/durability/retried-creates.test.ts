import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet } from "../support/client.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";

const KILLS = sized(1, 20, 200);
const WRITERS = 24;

const program = useBuiltPetstore();

it(`stores each retried create exactly once over ${KILLS} kills under ${WRITERS} writers`, async () => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const start = () => startBuilt([process.execPath, program()], "--database", database);
  let server = await start();
  let isOver = false;
  let retries = 0;
  const created = new Map<string, number>();

  /** Sends the same request, to the server that runs then, until it gets the pet. */
  const createUntilDone = async (agent: Agent, name: string): Promise<void> => {
    for (;;) {
      const { url } = server;
      const reply = await addPet(url, agent, secret, name, name).catch(() => undefined);
      if (reply?.status === 201) {
        created.set(name, (JSON.parse(reply.body) as { id: number }).id);
        return;
      }
      if (reply !== undefined) throw new Error(`${reply.status}: ${reply.body}`);
      retries += 1;
      await setTimeout(5);
    }
  };
  const write = async (writer: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; !isOver; count += 1) await createUntilDone(agent, `${writer}-${count}`);
    agent.destroy();
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = created.size;
    await expect.poll(() => created.size, { interval: 1 }).toBeGreaterThan(before + WRITERS);
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((kill * 37) % 120);
    await server.end("SIGKILL");
    server = await start();
  }
  isOver = true;
  await writing;

  const reader = new Database(database, { readonly: true });
  const stored = reader
    .prepare<[], { name: string; id: number }>("select name, id from pets order by id")
    .all();
  reader.close();
  console.info(`${KILLS} kills, ${created.size} creates, ${retries} retries`);
  const byId = [...created].toSorted(([, one], [, other]) => one - other);
  expect(stored.map(({ name, id }) => [name, id])).toEqual(byId);
  expect(retries).toBeGreaterThanOrEqual(KILLS);
});
