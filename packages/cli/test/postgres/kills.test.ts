import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFailed } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, addUntilDone, startWriters } from "../support/client.js";
import { issueUnlimitedKey } from "../support/command.js";

const KILLS = sized(0, 20, 200);
const WRITERS = 24;

const postgres = usePostgres();
useBuiltPetstore();

it.runIf(KILLS > 0)(
  `stores each retried create exactly once over ${KILLS} kills of servers, backends and PostgreSQL`,
  async () => {
    const url = postgres.url();
    const secret = await issueUnlimitedKey(url);
    const start = () => startServer("--database", url);
    const servers = [await start(), await start()];
    const found = { retries: 0, unavailable: 0, ended: 0 };
    let sent = 0;

    /** Sends the same request, to any of the servers that run then, until it gets the pet. */
    const { created, stop } = startWriters(WRITERS, (name, agent) =>
      addUntilDone(
        async () => {
          const server = servers[(sent += 1) % servers.length];
          const reply = server && (await addPet(server.url, agent, secret, name, name));
          if (reply?.status !== 503) return reply;
          found.unavailable += 1;
          return undefined;
        },
        () => (found.retries += 1),
      ),
    );
    const killServer = async (): Promise<void> => {
      await servers.shift()?.end("SIGKILL");
      servers.push(await start());
    };
    const endConnections = async (): Promise<void> => {
      const admin = await connectAdmin(url);
      for (let count = 0; count < 8; count += 1) found.ended += await terminateOne(admin);
    };
    const crash = async (): Promise<void> => {
      await postgres.kill();
      await postgres.start();
    };

    const progress = (): string => `${created.size} creates, ${JSON.stringify(found)}`;
    onTestFailed(() => console.info(progress()));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = created.size;
      await expect
        .poll(() => created.size, { interval: 1, timeout: 30_000 })
        .toBeGreaterThan(before + WRITERS);
      // At another moment each time, without chance: 37 and 120 have no common divisor.
      await setTimeout((kill * 37) % 120);
      await [killServer, endConnections, crash][kill % 3]?.();
    }
    await stop();

    const admin = await connectAdmin(url);
    const stored = await admin.query("select name, id::integer from petstore.pets order by id");
    console.info(`${KILLS} kills, ${progress()}`);
    expect(stored).toEqual([...created].toSorted(([, one], [, other]) => one - other));
    expect(found.retries).toBeGreaterThanOrEqual(KILLS / 3);
    expect(found.ended).toBeGreaterThan(0);
  },
);
