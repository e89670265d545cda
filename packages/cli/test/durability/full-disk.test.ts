import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { issueUnlimitedKey } from "../support/command.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, send } from "../support/client.js";

const folder = mkdtempSync(join(tmpdir(), "petstore-small-disk-"));
/** Whether a disk of a few megabytes can be mounted. */
const canMount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]).status === 0;
if (!canMount) rmSync(folder, { recursive: true });

useBuiltPetstore();

it.skipIf(!canMount)(
  "on a full disk, a create is a 503 that stores nothing, and a 201 soon after there is space",
  async () => {
    onTestFinished(() => {
      spawnSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true });
    });
    const database = join(folder, "pets.db");
    const secret = await issueUnlimitedKey(database);
    const server = await startServer("--database", database);
    const agent = new Agent({ keepAlive: true });
    const filler = join(folder, "filler");
    writeFileSync(filler, Buffer.alloc(2_000_000));

    const names: string[] = [];
    let refused = 0;
    for (let count = 0; refused < 20; count += 1) {
      const name = `pet ${count} ${"x".repeat(20_000)}`;
      const { status, body } = await addPet(server.url, agent, secret, name);
      if (status === 201) names.push(name);
      else {
        expect(JSON.parse(body)).toMatchObject({ status: 503, code: "storage_unavailable" });
        refused += 1;
      }
    }
    rmSync(filler);
    const again = async () => (await addPet(server.url, agent, secret, "after")).status;
    await expect.poll(again).toBe(201);
    expect((await send(`${server.url}/pets`, agent, secret)).status).toBe(200);
    agent.destroy();
    expect(await server.end("SIGTERM")).toBe(0);

    const stored = new Database(database, { readonly: true });
    const stillThere = stored.prepare("select name from pets order by id").pluck().all();
    expect(stillThere).toEqual([...names, "after"]);
    expect(stored.pragma("integrity_check", { simple: true })).toBe("ok");
    stored.close();
  },
);
