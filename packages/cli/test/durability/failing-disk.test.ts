import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { startCommand, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petsIn, withDatabase } from "../support/command.js";
import { addPet, expectStored, send } from "../support/client.js";
import { inCi } from "../../../../scripts/test-size.js";

/** strace may be missing, or not be allowed to trace. Then tests are skipped; in CI they fail. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const itTraces = it.skipIf(!canTrace && process.env["CI"] === undefined);
const HOW_TO_TRACE = "strace must trace: run `apt-get update && apt-get install -y strace`.";

useBuiltPetstore();

async function serve(database = newDatabase()) {
  const secret = await issueUnlimitedKey(database);
  const { pid, url, end } = await startServer("--database", database);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  /** From now on, these system calls fail with this error, if there is a path: on this file only. */
  const fail = async (calls: string, error: string, path?: string) => {
    const failing = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`];
    const files = path === undefined ? [] : ["-P", path];
    const args = ["-f", "-o", "/dev/null", "-p", String(pid), ...files, ...failing];
    const tracer = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(tracer, "exit");
    for await (const line of createInterface(tracer.stderr)) if (line.includes("attached")) break;
    return { ended, kill: () => tracer.kill() };
  };
  const add = (name: string) => addPet(url, agent, secret, name);
  const statusOf = async (name: string) => (await add(name)).status;
  const list = () => send(`${url}/pets`, agent, secret);
  return { database, end, fail, add, statusOf, list };
}

itTraces("a pet whose sync failed is not kept, also when the server is killed then", async () => {
  const { database, fail, statusOf, end } = await serve();
  expect(await statusOf("kept")).toBe(201);
  const tracer = await fail("fsync", "EIO");
  expect(await statusOf("lost"), HOW_TO_TRACE).toBe(503);
  await end("SIGKILL");
  await tracer.ended;
  expect(await petsIn(database)).toEqual([expect.stringContaining('"name":"kept"')]);
});

itTraces("looks at the log that fail (EIO) store nothing, lose nothing, and pass", async () => {
  const { database, fail, statusOf, end } = await serve();
  expect(await statusOf("before")).toBe(201);
  const tracer = await fail("stat,statx,newfstatat", "EIO", `${database}-wal`);
  await expect.poll(() => statusOf("meanwhile"), { message: HOW_TO_TRACE }).toBe(503);
  tracer.kill();
  await tracer.ended;
  expect([await statusOf("after"), await end("SIGTERM")]).toEqual([201, 0]);
  expect((await petsIn(database)).filter((pet) => !pet.includes('"name":"meanwhile"'))).toEqual(
    ["before", "after"].map((name) => expect.stringContaining(name) as string),
  );
});

it("an idle server that has lost its log keeps the key that another process stores then", async () => {
  const { database, run } = withDatabase();
  const server = await startServer("--database", database);
  for (const end of ["-wal", "-shm"]) rmSync(database + end);
  const issue = "keys issue --plan free --label kept --database".split(" ");
  const issuing = startCommand(...issue, database);
  expect([await issuing.ended, issuing.output()]).toEqual([0, expect.any(String)]);
  expect(await server.end("SIGTERM")).toBe(0);
  expect((await run("keys", "list")).out).toContain("kept");
});

itTraces("a pet is not kept, after a kill too, if only the log's index cannot grow", async () => {
  const { database, fail, statusOf, end } = await serve();
  const tracer = await fail("pwrite64", "ENOSPC", `${database}-shm`);
  // The index grows after about 4,000 pages of the log.
  const create = () => statusOf("x".repeat(60_000));
  let [created, status] = [0, await create()];
  for (; status === 201 && created < 1_000; created += 1) status = await create();
  expect(status, HOW_TO_TRACE).toBe(503);
  await end("SIGKILL");
  await tracer.ended;
  expect(await petsIn(database)).toHaveLength(created);
});

it.runIf(inCi)("a create is 503 on a full disk, 201 when there is space", async ({ skip }) => {
  const folder = createFolder();
  const mount = ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder];
  skip(spawnSync("mount", mount).status !== 0, "A small disk cannot be mounted here.");
  onTestFinished(() => void spawnSync("umount", ["--lazy", folder]));
  const { database, add, list, end } = await serve(join(folder, "pets.db"));
  const filler = join(folder, "filler");
  writeFileSync(filler, Buffer.alloc(2_000_000));

  const created = new Map<string, number>();
  const addNamed = async (name: string) => {
    const reply = await add(name);
    const body = JSON.parse(reply.body) as { id: number };
    if (reply.status === 201) created.set(name, body.id);
    else expect(body).toMatchObject({ status: 503, code: "storage_unavailable" });
    return reply.status;
  };
  for (let [count, refused] = [0, 0]; refused < 20; count += 1)
    if ((await addNamed(`pet ${count} ${"x".repeat(20_000)}`)) !== 201) refused += 1;
  rmSync(filler);
  await expect.poll(() => addNamed("after")).toBe(201);
  expect([(await list()).status, await end("SIGTERM")]).toEqual([200, 0]);
  expect(await expectStored(database, created)).toBe(0);
});
