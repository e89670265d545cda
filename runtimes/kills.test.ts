import type { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { addPet, addUntilDone, send, startWriters } from "../packages/cli/test/support/client.js";
import { sized } from "../scripts/test-size.js";
import { issueKey, serve, serveAnew, SERVERS } from "./served-program.js";

const KILLS = sized(5, 20, 200);
const WRITERS = 12;
/** Requests of the key that is used up while the server is killed. */
const LIMIT = KILLS * WRITERS;
const longPoll = { timeout: 120_000, interval: 1 };

test.each(SERVERS.filter(([, , program]) => program !== "own-server.ts"))(
  `%s keeps every pet and every limit over ${KILLS} kills`,
  async (_, runtime, program) => {
    const { database, key, ...first } = await serveAnew(runtime, program);
    let server = first;
    const limited = await issueKey(database, LIMIT);
    const url = () => `http://127.0.0.1:${server.port}/v1`;
    const counts = { retries: 0, admitted: 0, refused: 0, lost: 0 };

    const useLimited = async (agent: Agent): Promise<void> => {
      try {
        const { status } = await send(`${url()}/pets?limit=1`, agent, limited);
        expect([200, 429]).toContain(status);
        counts[status === 200 ? "admitted" : "refused"] += 1;
      } catch (error) {
        // A request that no server was there for has cost nothing.
        if (!String(error).includes("ECONNREFUSED")) counts.lost += 1;
      }
    };
    /** Half of the creates are repeated until there is a response; the others are given up if they lose theirs. */
    const { created, stop } = startWriters(WRITERS, async (name, agent) => {
      if (counts.refused < WRITERS) await useLimited(agent);
      const isRepeated = Number.parseInt(name) % 2 === 0;
      if (!isRepeated) return addPet(url(), agent, key, name).catch(() => setTimeout(5));
      const add = () => addPet(url(), agent, key, name, name);
      return addUntilDone(add, () => (counts.retries += 1));
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = created.size;
      await expect.poll(() => created.size, longPoll).toBeGreaterThan(before + WRITERS);
      // At another moment each time, without chance: 37 and 120 have no common divisor.
      await setTimeout((kill * 37) % 120);
      await server.end("SIGKILL");
      server = await serve(runtime, program, database);
    }
    await expect.poll(() => counts.refused, longPoll).toBeGreaterThan(0);
    await stop();

    const reader = new Database(database, { readonly: true });
    const rows = reader.prepare<[], [string, number]>("select name, id from pets").raw().all();
    expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    reader.close();
    console.info(`${KILLS} kills, ${created.size} creates, ${JSON.stringify(counts)}`);
    const stored = new Map(rows);
    expect(stored.size, "no pet is stored twice").toBe(rows.length);
    expect([...created].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
    expect(counts.retries).toBeGreaterThanOrEqual(KILLS);
    expect(counts.admitted).toBeLessThanOrEqual(LIMIT);
    expect(counts.admitted + counts.lost).toBeGreaterThanOrEqual(LIMIT);
  },
);
