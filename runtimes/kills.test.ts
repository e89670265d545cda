import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { addPet, send } from "../packages/cli/test/support/client.js";
import { sized } from "../scripts/test-size.js";
import { issueKey, newDatabase, serve, type RuntimeName } from "./served-program.js";

const KILLS = sized(5, 20, 200);
const WRITERS = 12;
/** Requests of the key that is used up while the server is killed. */
const LIMIT = KILLS * WRITERS;

test.each<[string, RuntimeName, string]>([
  ["Bun.serve", "Bun", "bun.ts"],
  ["Deno.serve", "Deno", "deno.ts"],
])(`%s keeps every pet and every limit over ${KILLS} kills`, async (_, runtime, program) => {
  const database = newDatabase();
  const start = () => serve(runtime, program, database);
  let server = await start();
  const secret = await issueKey(database, { perMinute: 1e6, perDay: 1e6 });
  const limited = await issueKey(database, { perMinute: LIMIT, perDay: LIMIT });
  const url = () => `http://127.0.0.1:${server.port}/v1`;
  const created = new Map<string, number>();
  const counts = { admitted: 0, refused: 0, lostLists: 0, lostCreates: 0 };
  const noteLoss = (what: "lostLists" | "lostCreates") => (error: unknown) => {
    if (!isUnsent(error)) counts[what] += 1;
    return undefined;
  };
  let isOver = false;

  /** Half of the writers repeat a create until they get the pet; the others give up if they lose a response. */
  const create = async (agent: Agent, name: string, idempotencyKey?: string): Promise<void> => {
    for (;;) {
      const sent = addPet(url(), agent, secret, name, idempotencyKey);
      const reply = await sent.catch(noteLoss("lostCreates"));
      if (reply?.status === 201) {
        created.set(name, (JSON.parse(reply.body) as { id: number }).id);
        return;
      }
      if (reply !== undefined) throw new Error(`${reply.status}: ${reply.body}`);
      await setTimeout(5);
      if (idempotencyKey === undefined) return;
    }
  };
  const useLimited = async (agent: Agent): Promise<void> => {
    const sent = send(`${url()}/pets?limit=1`, agent, limited);
    const reply = await sent.catch(noteLoss("lostLists"));
    if (reply === undefined) return;
    if (reply.status === 200) counts.admitted += 1;
    else if (reply.status === 429) counts.refused += 1;
    else throw new Error(`${reply.status}: ${reply.body}`);
  };
  const write = async (writer: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; !isOver; count += 1) {
      const name = `${writer}-${count}`;
      await create(agent, name, writer % 2 === 0 ? name : undefined);
      if (counts.refused < WRITERS) await useLimited(agent);
    }
    agent.destroy();
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (__, writer) => write(writer)));

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = created.size;
    await enough(() => created.size > before + WRITERS);
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((kill * 37) % 120);
    await server.end("SIGKILL");
    server = await start();
  }
  await enough(() => counts.refused > 0);
  isOver = true;
  await writing;

  const reader = new Database(database, { readonly: true });
  const stored = reader
    .prepare<[], { name: string; id: number }>("select name, id from pets order by id")
    .all();
  expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
  reader.close();
  console.info(`${KILLS} kills, ${created.size} creates, ${JSON.stringify(counts)}`);
  const ids = new Map(stored.map(({ name, id }) => [name, id]));
  expect(ids.size, "no pet is stored twice").toBe(stored.length);
  expect([...created].filter(([name, id]) => ids.get(name) !== id)).toEqual([]);
  const unacknowledged = [...ids.keys()].filter((name) => !created.has(name));
  expect(unacknowledged.filter((name) => Number(name.split("-")[0]) % 2 === 0)).toEqual([]);
  expect(unacknowledged.length).toBeLessThanOrEqual(counts.lostCreates);
  expect(counts.lostCreates + counts.lostLists).toBeGreaterThanOrEqual(KILLS);
  expect(counts.admitted).toBeLessThanOrEqual(LIMIT);
  expect(counts.admitted + counts.lostLists).toBeGreaterThanOrEqual(LIMIT);
});

/** Whether a request was not sent because no server was there. */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

async function enough(isEnough: () => boolean): Promise<void> {
  await vi.waitUntil(isEnough, { timeout: 120_000, interval: 1 });
}
