import type { PetStore } from "@petstore/core";
import { Command, Option } from "commander";
import { databaseOption, port } from "../options.js";
import { issueFirstKey } from "../serve/first-key.js";
import { listen } from "../serve/listen.js";
import { shutDownOnSignal } from "../serve/shut-down.js";
import type { Terminal } from "../terminal.js";
import { openStore } from "../with-store.js";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly firstKey?: true;
}

/** `petstore serve`: serves the store over HTTP until it is told to stop. */
export function serveCommand(terminal: Terminal, fail: (message: string) => void): Command {
  return new Command("serve")
    .description("Serve the store over HTTP under /v1, until SIGTERM or SIGINT.")
    .addOption(
      new Option("--host <address>", "the address to listen on").env("HOST").default("127.0.0.1"),
    )
    .addOption(
      new Option("--port <number>", "the port to listen on; 0 for any that is free")
        .env("PORT")
        .default(3000)
        .argParser(port),
    )
    .addOption(databaseOption())
    .option("--first-key", "when the database holds no key yet, issue a Free one and print it")
    .action(async (options: ServeOptions) => {
      const store = await openStore(options.database);
      const problem = store.isErr() ? store.error : await serve(store.value, options, terminal);
      if (problem !== undefined) fail(problem);
    });
}

/** Serves until a signal comes; resolves to what went wrong, if anything. */
async function serve(
  store: PetStore,
  { host, port: wanted, firstKey }: ServeOptions,
  terminal: Terminal,
): Promise<string | undefined> {
  const listening = await listen(store, host, wanted, terminal);
  if (listening.isErr()) {
    await store.close();
    return listening.error;
  }
  const { server, url } = listening.value;
  const stopped = shutDownOnSignal(server, store, terminal);
  terminal.out(`petstore listens on ${url}`);
  if (firstKey) await issueFirstKey(store, url, terminal);
  return stopped;
}
