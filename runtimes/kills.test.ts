import { expect, test } from "vitest";
import { addOverKills, byHand, expectStored } from "../packages/cli/test/support/client.js";
import { sized } from "../scripts/test-size.js";
import { serve, serveAnew, SERVERS } from "./served-program.js";

const KILLS = sized(5, 20, 200);

test.each(SERVERS.filter(([, , program]) => program !== "own-server.ts"))(
  `%s keeps every pet over ${KILLS} kills`,
  async (_, runtime, program) => {
    const { database, key, ...server } = await serveAnew(runtime, program);
    let retries = 0;
    const add = byHand(server, key, () => (retries += 1));
    const created = await addOverKills(add, KILLS, async () => {
      await server.end("SIGKILL");
      Object.assign(server, await serve(runtime, program, database));
    });
    await expectStored(database, created);
    console.info(`${KILLS} kills, ${created.size} creates, ${retries} retries`);
    expect(retries).toBeGreaterThanOrEqual(KILLS);
  },
);
