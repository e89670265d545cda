import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFailed } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { connectAdmin, terminateOne } from "../../../storage-postgres/test/support/admin.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { addPet } from "../support/client.js";
import { openBeside, startServers } from "./servers.js";

const KILLS = sized(0, 20, 200);
const WRITERS = 24;

const postgres = usePostgres();
const program = useBuiltPetstore();

it.runIf(KILLS > 0)(
  `stores each retried create exactly once over ${KILLS} kills of servers, backends and PostgreSQL`,
  async () => {
    const url = postgres.url();
    const { keys } = await openBeside(url);
    const limits = { perMinute: 1e9, perDay: 1e9 };
    const { secret } = (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
    const servers = [...(await startServers(program(), [url, url]))];
    const created = new Map<string, number>();
    const found = { retries: 0, unavailable: 0, ended: 0 };
    let isOver = false;

    /** Sends the same request, to any of the servers that run then, until it gets the pet. */
    const createUntilDone = async (agent: Agent, name: string): Promise<void> => {
      for (let attempt = 0; ; attempt += 1) {
        const server = servers[(name.length + attempt) % servers.length];
        const reply =
          server && (await addPet(server.url, agent, secret, name, name).catch(() => undefined));
        if (reply?.status === 201) {
          created.set(name, (JSON.parse(reply.body) as { id: number }).id);
          return;
        }
        if (reply?.status === 503) found.unavailable += 1;
        else if (reply !== undefined) throw new Error(`${reply.status}: ${reply.body}`);
        found.retries += 1;
        await setTimeout(5);
      }
    };
    const write = async (writer: number): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let count = 0; !isOver; count += 1) await createUntilDone(agent, `${writer}-${count}`);
      agent.destroy();
    };
    const killServer = async (): Promise<void> => {
      await servers.shift()?.end("SIGKILL");
      servers.push(...(await startServers(program(), [url])));
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
    onTestFailed(() => console.info(`${progress()}, ${isOver ? "after" : "during"} the kills`));
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = created.size;
      await expect
        .poll(() => created.size, { interval: 1, timeout: 30_000 })
        .toBeGreaterThan(before + WRITERS);
      // At another moment each time, without chance: 37 and 120 have no common divisor.
      await setTimeout((kill * 37) % 120);
      await [killServer, endConnections, crash][kill % 3]?.();
    }
    isOver = true;
    await writing;

    const admin = await connectAdmin(url);
    const stored = await admin.query("select name, id::integer from petstore.pets order by id");
    console.info(`${KILLS} kills, ${progress()}`);
    expect(stored).toEqual([...created].toSorted(([, one], [, other]) => one - other));
    expect(found.retries).toBeGreaterThanOrEqual(KILLS / 3);
    expect(found.ended).toBeGreaterThan(0);
  },
);
