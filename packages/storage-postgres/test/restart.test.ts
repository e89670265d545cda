import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { sized } from "../../../scripts/test-size.js";
import { openStorage } from "./support/open-storage.js";
import { usePostgres } from "./support/postgres-server.js";
import {
  aKey,
  allIds,
  chargeOnce,
  rex,
  times,
  usedBy,
} from "../../storage-sql/test/support/samples.js";

const PROGRAM = "packages/storage-postgres/test/creating-process.ts";
const program = useBundled("creating-process", [PROGRAM]);
const server = usePostgres();
const CRASHES = sized(1, 3, 20);

it("a server that crashes and restarts loses no pet, and reuses no id", async () => {
  const storage = await openStorage({ url: server.url(), schema: "crash" });
  const acknowledged: bigint[] = [];
  let isRunning = true;
  const creating = times(8, async () => {
    while (isRunning) {
      const created = await storage.pets.create(rex);
      if (created.isOk()) acknowledged.push(created.value.id);
    }
  });
  for (let round = 0; round < CRASHES; round += 1) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 50) await storage.pets.find(1n);
    await server.kill();
    await server.start();
    const restarted = acknowledged.length;
    while (acknowledged.length < restarted + 50) await storage.pets.find(1n);
  }
  isRunning = false;
  await Promise.all(creating);
  const ids = new Set(await allIds(storage));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  await storage.close();
});

it("with durableUsage, a crash loses no charge", async () => {
  const storage = await openStorage({ url: server.url(), schema: "durable", durableUsage: true });
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  for (let count = 0; count < 20; count += 1) await chargeOnce(storage, "a");
  await server.kill();
  await server.start();
  expect(await usedBy(storage, "a")).toBe(20);
  expect(await chargeOnce(storage, "a")).toBe(20);
  await storage.close();
});

it("processes that are killed lose nothing that was acknowledged", async () => {
  const schema = "killed";
  const storage = await openStorage({ url: server.url(), schema });
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  const acknowledged: bigint[] = [];
  const children = times(2, () =>
    fork(program(PROGRAM), [server.url(), schema], { execArgv: [] }).on("message", (id: string) =>
      acknowledged.push(BigInt(id)),
    ),
  );
  for (const child of children) {
    const goal = acknowledged.length + 100;
    while (acknowledged.length < goal) {
      await chargeOnce(storage, "a");
      (await storage.pets.create(rex))._unsafeUnwrap();
    }
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const ids = new Set(await allIds(storage));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect(await usedBy(storage, "a")).toBeGreaterThanOrEqual(acknowledged.length);
  await storage.close();
});
