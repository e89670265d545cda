import type { PetStore } from "@petstore/core";
import { Command, Option } from "commander";
import { address, databaseOption, numberFrom, port } from "../options.js";
import { createLogger } from "../serve/create-logger.js";
import { createDrain } from "../serve/drain.js";
import { issueFirstKey } from "../serve/first-key.js";
import { listen } from "../serve/listen.js";
import { shutDownWhenTold } from "../serve/shut-down.js";
import { serveWithWorkers } from "../serve/workers/serve-with-workers.js";
import { isWorker, work } from "../serve/workers/work.js";
import type { Streams } from "../streams.js";
import type { Terminal } from "../terminal.js";
import { openStore } from "../with-store.js";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly workers: number;
  readonly firstKey?: true;
  readonly log?: true;
}

/** `petstore serve`: serves the store over HTTP until it is told to stop. */
export function serveCommand(
  terminal: Terminal,
  streams: Streams,
  fail: (message: string) => void,
): Command {
  return new Command("serve")
    .description("Serve the store over HTTP under /v1, until SIGTERM or SIGINT.")
    .addOption(
      new Option("--host <address>", "the address to listen on")
        .env("HOST")
        .default("127.0.0.1")
        .argParser(address),
    )
    .addOption(
      new Option("--port <number>", "the port to listen on; 0 for any that is free")
        .env("PORT")
        .default(3000)
        .argParser(port),
    )
    .addOption(databaseOption())
    .option("--log", "write a line of JSON to standard output for each request")
    .option("--first-key", "when the database holds no key yet, issue a Free one and print it")
    .addOption(
      new Option("--workers <n>", "how many processes serve, on the same port and limits")
        .argParser(numberFrom(1, 256))
        .default(1),
    )
    .action(async (options: ServeOptions) => {
      const problem = await serveAs(options, terminal, streams);
      if (problem !== undefined) fail(problem);
    });
}

/** Alone, with workers, or as one of them. */
function serveAs(
  options: ServeOptions,
  terminal: Terminal,
  streams: Streams,
): Promise<string | undefined> {
  if (options.workers === 1) {
    return serve(options, terminal, streams, async (url, store) => {
      terminal.out(`petstore listens on ${url}`);
      if (options.firstKey) await issueFirstKey(store, url, terminal);
    });
  }
  if (options.database === ":memory:") {
    return Promise.resolve("a database in memory cannot be shared: --workers needs one in a file");
  }
  if (!isWorker()) return serveWithWorkers(options, terminal);
  return work((quiet, onListening) => serve(options, quiet, streams, onListening), terminal);
}

/** Serves until a signal comes; resolves to what went wrong, if anything. */
async function serve(
  { database, host, port: wanted, log }: ServeOptions,
  terminal: Terminal,
  { stdout }: Streams,
  onListening: (url: string, store: PetStore) => Promise<void> | void,
): Promise<string | undefined> {
  const logger = log ? await createLogger(stdout) : undefined;
  const opened = await openStore(database);
  if (opened.isErr()) return opened.error;
  const store = opened.value;
  const drain = createDrain();
  const listening = await listen(store, { host, port: wanted, drain, logger }, terminal);
  if (listening.isErr()) {
    await store.close();
    return listening.error;
  }
  const { server, url } = listening.value;
  const stopped = shutDownWhenTold(server, drain, store, terminal);
  await onListening(url, store);
  return stopped;
}
