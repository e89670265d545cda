import { Agent } from "node:http";
import { performance } from "node:perf_hooks";
import { expect, it, onTestFinished } from "vitest";
import { LARGE } from "../../../http-adapter/test/support/serve.js";
import { inCi } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { send } from "../support/client.js";
import { issueKey, newDatabase, openBeside } from "../support/command.js";
import { openSocket } from "../support/raw-client.js";

const built = useBuiltPetstore();

it.runIf(inCi)("1,000 clients that do not read end no server, and hold up no client", async () => {
  const database = newDatabase();
  const attackers = [await issueKey(database), await issueKey(database)];
  const client = await issueKey(database, "--plan", "business");
  const store = await openBeside(database);
  for (let pet = 0; pet < 100; pet += 1)
    (await store.trusted.createPet({ name: LARGE, categoryId: 1 }))._unsafeUnwrap();
  const node = [process.execPath, "--max-old-space-size=256", built()];
  const { url, end, output } = await startBuilt(node, "--database", database);

  for (let connection = 0; connection < 1_000; connection += 1) {
    const socket = await openSocket(url);
    onTestFinished(() => void socket.destroy());
    const { secret } = attackers[connection % 2] ?? client;
    const head = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
    socket.pause().write(head.repeat(3));
  }
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const percentile = async (): Promise<number | undefined> => {
    const times: number[] = [];
    for (let request = 0; request < 500; request += 1) {
      const start = performance.now();
      expect((await send(`${url}/pets?after=99`, agent, client.secret)).status).toBe(200);
      times.push(performance.now() - start);
    }
    return times.toSorted((one, other) => one - other)[494];
  };
  // On a busy machine, others take the time of some.
  await expect.poll(percentile, { timeout: 120_000 }).toBeLessThan(100);
  expect(await end()).toBe(0);
  expect(output()).not.toContain("heap");
});
