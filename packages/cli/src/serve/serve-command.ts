import { systemClock, type PetStore } from "@petstore/core";
import { Command, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../describe-error.js";
import { openStore } from "../open-store.js";
import { databaseOption, nonBlank, wholeNumber } from "../options.js";
import type { ReportError, Streams, Terminal } from "../terminal.js";
import { createRequestLog } from "./log.js";
import { listen } from "./server.js";
import { DRAIN_TIMEOUT, untilStopped } from "./stop.js";
import { isWorker, runAsWorker, startWorkers } from "./workers.js";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly workers: number;
  readonly firstKey?: true;
  readonly log?: true;
}

/** Where `petstore serve` writes. */
interface Output {
  readonly terminal: Terminal;
  readonly streams: Streams;
  readonly report: ReportError;
}

/** `petstore serve`: serves the store over HTTP until it receives a signal. */
export function serveCommand({
  fail,
  ...output
}: Output & { readonly fail: ReportError }): Command {
  return new Command("serve")
    .description("Serve the store over HTTP under /v1, until SIGTERM, SIGINT or SIGHUP.")
    .addOption(
      new Option("--host <address>", "the address to listen on")
        .env("HOST")
        .default("127.0.0.1")
        // An empty address would mean every interface.
        .argParser(nonBlank("It must be an address.")),
    )
    .addOption(
      new Option("--port <number>", "the port to listen on; 0 for any free port")
        .env("PORT")
        .default(3000)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(databaseOption())
    .option("--log", "write a line of JSON for each request to standard output")
    .option("--first-key", "if the database has no key yet, issue a Free one and print it")
    .option(
      "--workers <n>",
      "the number of processes that serve; they share the port and the limits",
      wholeNumber(1, 256),
      1,
    )
    .action(async (options: ServeOptions) => {
      (await serveAs(options, output)).mapErr(fail);
    });
}

/** Serves in this process, starts workers, or serves as one of them. */
async function serveAs(options: ServeOptions, output: Output): Promise<Result<void, string>> {
  const { terminal } = output;
  if (options.workers === 1) {
    return serve(options, output, async (url, store) => {
      terminal.out(`petstore listens on ${url}`);
      if (options.firstKey) await issueFirstKey(store, url, output);
    });
  }
  if (options.database === ":memory:") {
    return err("processes cannot share a database in memory: --workers needs a file");
  }
  if (!isWorker()) return serveWithWorkers(options, output);
  // The process that started the workers prints for all of them.
  const quiet = { ...output, terminal: { ...terminal, out: () => undefined } };
  await runAsWorker((onListening) => serve(options, quiet, onListening));
  return ok();
}

async function serve(
  { database, host, port, log }: ServeOptions,
  { terminal, streams, report }: Output,
  onListening: (url: string, store: PetStore) => Promise<void> | void,
): Promise<Result<void, string>> {
  const opened = await openStore(database);
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  const onResponse = log ? createRequestLog(streams.stdout, systemClock) : undefined;
  const listening = await listen(store, { host, port, onResponse, report });
  if (listening.isErr()) {
    await store.close();
    return err(listening.error);
  }
  const { url, close } = listening.value;
  const stopped = untilStopped(terminal, report);
  await onListening(url, store);
  await stopped;
  await close(DRAIN_TIMEOUT);
  const closed = await store.close();
  return closed.mapErr(describeStoreError);
}

/** Serves with workers. They share keys, limits and pets through the database. */
async function serveWithWorkers(
  { workers: count, database, firstKey }: ServeOptions,
  output: Output,
): Promise<Result<void, string>> {
  const { terminal, report } = output;
  // Opened before the workers start, so that only one process creates the tables and the first key.
  const opened = await openStore(database);
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  const workers = startWorkers(count, systemClock, report, (url) => {
    terminal.out(`petstore listens on ${url} with ${count} workers`);
    if (firstKey) void issueFirstKey(store, url, output);
  });
  void untilStopped(terminal, report).then(() => workers.stop());
  const ended = await workers.ended;
  const closed = await store.close();
  return ended.andThen(() => closed.mapErr(describeStoreError));
}

/** If the store has no key yet, issues a Free key and prints a command that uses it. */
async function issueFirstKey(
  store: PetStore,
  url: string,
  { terminal, report }: Output,
): Promise<void> {
  const listed = await store.keys.list({ limit: 1 });
  if (listed.isErr() || listed.value.keys.length > 0) return;
  const issued = await store.keys.issue({ plan: "free", label: "first key" });
  if (issued.isErr()) {
    report(`no first key was issued: ${describeStoreError(issued.error)}`);
    return;
  }
  const { secret } = issued.value;
  terminal.out(`
There was no API key yet. This is the first one, on the Free plan, shown only once. Try it:

  curl -i -H "Authorization: Bearer ${secret}" ${url}/pets
`);
}
