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

/** The name of a runtime. */
export type RuntimeName = "Bun" | "Deno";

/** A server in a runtime, in a process of its own. */
export interface Served {
  readonly port: number;
  /** Sends a signal, and resolves to the exit code when the process has ended; `null` if a signal ended it. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Returns the path of a database that does not exist yet. Its folder is removed when the test ends. */
export function newDatabase(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-runtime-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "pets.db");
}

/** Starts a program in a runtime on a free port. It is killed when the test ends. */
export async function serve(
  runtime: RuntimeName,
  program: string,
  database: string,
): Promise<Served> {
  const { folder, command } = inject("runtimes")[runtime];
  const [file, ...args] = [...command, join(folder, program)];
  const port = await freePort();
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, PORT: String(port), PETSTORE_DATABASE: database },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(() => child.exitCode);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  onTestFinished(async () => {
    await end("SIGKILL");
  });
  let errors = "";
  child.stderr.on("data", (part) => (errors += String(part)));
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("Authorization: ")) return { port, end };
  }
  throw new Error(`${program} does not run in ${runtime}: ${errors}`);
}

/** Opens a store in Node on the database, also beside a server, and closes it after its use. */
export async function inStore<T>(
  database: string,
  use: (store: PetStore) => Promise<T>,
): Promise<T> {
  const opened = await openSqliteStorage({ filename: database });
  const store = createPetStore({ storage: opened._unsafeUnwrap() });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Issues a key with these limits. */
export function issueKey(
  database: string,
  limits: { readonly perMinute: number; readonly perDay: number },
): Promise<string> {
  return inStore(database, async ({ keys }) => {
    return (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap().secret;
  });
}
