import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createPetStore, type PetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { inject, onTestFinished } from "vitest";
import { freePort } from "../scripts/ports.js";

/** The servers that are tested: their names, their runtimes and their programs. */
export const SERVERS = [
  ["Bun.serve", "Bun", "bun.ts"],
  ["Deno.serve", "Deno", "deno.ts"],
  ["a server of ours in Bun", "Bun", "own-server.ts"],
  ["a server of ours in Deno", "Deno", "own-server.ts"],
] as const;

type RuntimeName = (typeof SERVERS)[number][1];

/** Starts a program in a runtime, on a free port. It is killed when the test ends. */
export async function serve(runtime: RuntimeName, program: string, database: string) {
  const { folder, command } = inject("runtimes")[runtime];
  const [file, ...args] = [...command, join(folder, program)];
  const port = await freePort();
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, PORT: String(port), PETSTORE_DATABASE: database },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(() => child.exitCode);
  /** Resolves to the exit code when the process has ended; `null` if a signal ended it. */
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  onTestFinished(() => end("SIGKILL").then(() => undefined));
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("Authorization: "))
      return { port, url: `http://127.0.0.1:${port}/v1`, end };
  }
  throw new Error(`${program} does not run in ${runtime}.`);
}

/** Starts a program on a new database, in which a key has been issued. */
export async function serveAnew(runtime: RuntimeName, program: string) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-runtime-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database = join(folder, "pets.db");
  const served = await serve(runtime, program, database);
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const issued = await inStore(database, ({ keys }) => keys.issue({ plan: "enterprise", limits }));
  return { ...served, database, key: issued._unsafeUnwrap().secret };
}

/** Opens a store in Node on the database, also beside a server, and closes it after its use. */
export async function inStore<T>(filename: string, use: (store: PetStore) => PromiseLike<T>) {
  const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
  const store = createPetStore({ storage });
  const used = await use(store);
  await store.close();
  return used;
}
