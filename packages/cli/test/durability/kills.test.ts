import { setTimeout } from "node:timers/promises";
import { Agent } from "node:http";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";
import { send, writeUntilCut } from "../support/client.js";

const KILLS = sized(1, 50, 1_000);
const WRITERS = 24;

const program = useBuiltPetstore();

interface Row {
  readonly id: number;
  readonly name: string;
}

it(`keeps every acknowledged pet over ${KILLS} kills under ${WRITERS} writers`, async () => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const acknowledged = new Map<number, string>();
  const found = { lost: 0, twice: 0, wrong: 0 };
  const restarts: number[] = [];
  let verified = 0;

  for (let kill = 0; kill <= KILLS; kill += 1) {
    const started = performance.now();
    const server = await startBuilt([process.execPath, program()], "--database", database);
    const first = await send(`${server.url}/pets?limit=1`, new Agent(), secret);
    restarts.push(performance.now() - started);
    expect(first.status).toBe(200);

    const reader = new Database(database, { readonly: true });
    const rows = reader.prepare<[number], Row>("select id, name from pets where id > ?");
    const stored = new Map(rows.all(verified).map(({ id, name }) => [id, name]));
    for (const [id, name] of acknowledged) {
      if (id > verified && stored.get(id) !== name) found.lost += 1;
    }
    verified = Math.max(verified, ...stored.keys());
    if (kill % 10 === 0 || kill === KILLS) {
      expect(reader.pragma("integrity_check", { simple: true })).toBe("ok");
    }
    if (kill === KILLS) {
      const all = new Map(rows.all(0).map(({ id, name }) => [id, name]));
      for (const [id, name] of acknowledged) if (all.get(id) !== name) found.wrong += 1;
    }
    reader.close();
    if (kill === KILLS) break;

    let newlyAcknowledged = 0;
    let writing: Promise<unknown> = Promise.resolve();
    await new Promise<void>((enough) => {
      writing = writeUntilCut(server.url, secret, WRITERS, `kill ${kill}`, (id, name) => {
        if (acknowledged.has(id)) found.twice += 1;
        acknowledged.set(id, name);
        newlyAcknowledged += 1;
        if (newlyAcknowledged === WRITERS) enough();
      });
    });
    // At another moment each time, without chance: 37 and 120 have no common divisor.
    await setTimeout((kill * 37) % 120);
    await server.end("SIGKILL");
    await writing;
  }

  const slowest = Math.max(...restarts);
  const [median = NaN] = restarts.toSorted((a, b) => a - b).slice(restarts.length / 2);
  console.info(
    `${KILLS} kills, ${acknowledged.size} pets acknowledged, ${JSON.stringify(found)}; ` +
      `restart to first response: median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`,
  );
  expect(found).toEqual({ lost: 0, twice: 0, wrong: 0 });
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * WRITERS);
});
