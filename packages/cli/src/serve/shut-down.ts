import type { Server } from "node:http";
import type { PetStore } from "@petstore/core";
import { describeStoreError } from "../store-error.js";
import type { Terminal } from "../terminal.js";
import type { Drain } from "./drain.js";

/** How long requests under way may take to finish once the server stops, in milliseconds. */
export const DRAIN_DEADLINE = 10_000;

/** The exit code after an error that no code caught: EX_SOFTWARE of sysexits.h. */
const CRASHED = 70;

/**
 * Ends the server gracefully when the process is to stop. Resolves when all is done, to what went wrong,
 * if anything.
 */
export async function shutDownWhenTold(
  server: Server,
  drain: Drain,
  store: PetStore,
  terminal: Terminal,
): Promise<string | undefined> {
  terminal.out(`petstore ${await nextStop(terminal)}: finishing what is under way`);
  await drain.end(server, DRAIN_DEADLINE);
  const closed = await store.close();
  return closed.isErr() ? describeStoreError(closed.error) : undefined;
}

/**
 * Resolves, to the reason, when the process is to stop: at the first SIGTERM, SIGINT or SIGHUP (which a
 * closed terminal sends), or at an error that no code caught. Such an error is printed with its stack,
 * and sets the exit code.
 */
export function nextStop(terminal: Terminal): Promise<string> {
  return new Promise((resolve) => {
    // The listeners stay: a terminal's Ctrl-C may arrive twice, and twice is no reason to drop a request.
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => resolve(`got ${signal}`));
    }
    // Node would open its inspector on a port.
    process.on("SIGUSR1", () => undefined);
    process.on("uncaughtException", (error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      terminal.error(`petstore: an error that no code caught: ${text}`);
      process.exitCode = CRASHED;
      resolve("stops after an error");
    });
  });
}
