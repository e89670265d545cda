import type { Server } from "node:http";
import type { PetStore } from "@petstore/core";
import { describeStoreError } from "../store-error.js";
import type { Terminal } from "../terminal.js";
import type { Drain } from "./drain.js";

/** How long requests under way may take to finish once the server stops, in milliseconds. */
export const DRAIN_DEADLINE = 10_000;

/**
 * Ends the server gracefully at the first SIGTERM or SIGINT. Resolves when all is done, to what went
 * wrong, if anything.
 */
export async function shutDownOnSignal(
  server: Server,
  drain: Drain,
  store: PetStore,
  terminal: Terminal,
): Promise<string | undefined> {
  const signal = await nextSignal();
  terminal.out(`petstore got ${signal}: finishing what is under way`);
  await drain.end(server, DRAIN_DEADLINE);
  const closed = await store.close();
  return closed.isErr() ? describeStoreError(closed.error) : undefined;
}

/** Resolves at the first SIGTERM or SIGINT; those after it change nothing. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // They stay: a terminal's Ctrl-C may arrive twice, and twice is no reason to drop a request.
    process.on("SIGTERM", resolve);
    process.on("SIGINT", resolve);
  });
}
