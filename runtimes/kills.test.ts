import { setTimeout } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { addPet, addUntilDone, startWriters } from "../packages/cli/test/support/client.js";
import { sized } from "../scripts/test-size.js";
import { serve, serveAnew, SERVERS } from "./served-program.js";

const KILLS = sized(5, 20, 200);
const WRITERS = 12;

test.each(SERVERS.filter(([, , program]) => program !== "own-server.ts"))(
  `%s keeps every pet over ${KILLS} kills`,
  async (_, runtime, program) => {
    const { database, key, ...first } = await serveAnew(runtime, program);
    let server = first;
    let retries = 0;
    /** Half of the creates are repeated until there is a response; the others are given up if they lose theirs. */
    const { created, stop } = startWriters(WRITERS, (name, agent) => {
      const add = (idempotencyKey?: string) =>
        addPet(`http://127.0.0.1:${server.port}/v1`, agent, key, name, idempotencyKey);
      const isRepeated = Number.parseInt(name) % 2 === 0;
      if (!isRepeated) return add().catch(() => setTimeout(5));
      return addUntilDone(
        () => add(name),
        () => (retries += 1),
      );
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = created.size;
      const longPoll = { timeout: 120_000, interval: 1 };
      await expect.poll(() => created.size, longPoll).toBeGreaterThan(before + WRITERS);
      // At another moment each time, without chance: 37 and 120 have no common divisor.
      await setTimeout((kill * 37) % 120);
      await server.end("SIGKILL");
      server = await serve(runtime, program, database);
    }
    await stop();

    const reader = new Database(database, { readonly: true });
    const rows = reader.prepare<[], [string, number]>("select name, id from pets").raw().all();
    expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    reader.close();
    console.info(`${KILLS} kills, ${created.size} creates, ${retries} retries`);
    const stored = new Map(rows);
    expect(stored.size, "no pet is stored twice").toBe(rows.length);
    expect([...created].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
    expect(retries).toBeGreaterThanOrEqual(KILLS);
  },
);
