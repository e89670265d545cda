import type { Server } from "node:http";
import type { PetStore } from "@petstore/core";
import type { Terminal } from "../terminal.js";

/** How long requests under way may take to finish once the server stops, in milliseconds. */
const DEADLINE = 10_000;

/** How often connections that have become idle are closed meanwhile, in milliseconds. */
const SWEEP = 50;

/**
 * Ends the server gracefully at the first SIGTERM or SIGINT: no new connection is accepted, idle
 * ones are closed, requests under way are answered and their connections then closed, and those
 * still open at the deadline are cut. Resolves when all is done, to what went wrong, if anything.
 */
export async function shutDownOnSignal(
  server: Server,
  store: PetStore,
  terminal: Terminal,
): Promise<string | undefined> {
  const signal = await nextSignal();
  terminal.out(`petstore got ${signal}: finishing what is under way`);
  await closeServer(server);
  const closed = await store.close();
  return closed.isErr() ? closed.error.message : undefined;
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // They stay: a terminal's Ctrl-C may arrive twice, and twice is no reason to drop a request.
    process.on("SIGTERM", resolve);
    process.on("SIGINT", resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DEADLINE);
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
