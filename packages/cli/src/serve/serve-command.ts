import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createPetStore, type PetStore } from "@petstore/core";
import { systemClock } from "@petstore/core/internal";
import { Command } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../describe-error.js";
import { openStorage, openStore, withStore } from "../open-store.js";
import { example, IN_MEMORY, isPostgres, nameOf } from "../options.js";
import { untilStopped } from "../stop-signal.js";
import type { CommandIO } from "../terminal.js";
import { watchWrites } from "./health.js";
import { createErrorLog, createRequestLog } from "./log.js";
import { openMetrics, type Sums } from "./metrics.js";
import { addServeOptions, type ServeOptions } from "./serve-options.js";
import { listen } from "./server.js";
import { portOfWorkers, runAsWorker, startWorkers } from "./workers.js";

export function serveCommand(io: CommandIO): Command {
  const command = new Command("serve").description(
    "Serve the store over HTTP under /v1, until SIGTERM, SIGINT or SIGHUP.",
  );
  return addServeOptions(command)
    .addHelpText("after", HELP + example("petstore serve --workers 4 --trust-proxy 10.0.0.0/8 ::1"))
    .action(async (options: ServeOptions) => {
      (await serveAs(options, io)).mapErr(io.fail);
    });
}

const HELP = `
An argument wins over a variable (env). The variable of an option without a value is true or false. The variable of a
repeatable option has commas between its values.
`;

async function serveAs(options: ServeOptions, given: CommandIO): Promise<Result<void, string>> {
  const { database, log, workers } = options;
  const { terminal } = given;
  // Standard output has only lines of JSON then.
  const print = (line: string): void => (log ? terminal.error(line) : terminal.out(line));
  // The process that started the workers prints for all of them.
  const out = cluster.isWorker ? () => undefined : print;
  const io: CommandIO = { ...given, terminal: { ...terminal, out } };
  const isNew = !isPostgres(database) && !existsSync(database);
  const onListening: OnListening = (url, store) => printBanner(store, url, options, isNew, io);
  if (workers > 1 && database === IN_MEMORY) {
    return err("processes cannot share a database in memory: --workers needs a file");
  }
  const metrics = await openMetrics(options, io);
  if (metrics.isErr()) return err(metrics.error);
  const { own, sums, close } = metrics.value;
  if (cluster.isWorker) {
    const snapshot = own && (() => own.getMetricsAsJSON());
    await runAsWorker((listening) => serve(options, io, listening), snapshot);
    return ok();
  }
  const served =
    workers === 1
      ? await serve(options, io, onListening)
      : await serveWithWorkers(options, io, onListening, sums);
  close?.();
  return served;
}

type OnListening = (url: string, store: PetStore) => Promise<void> | void;

async function serve(
  options: ServeOptions,
  { terminal, streams, stop, report }: CommandIO,
  onListening: OnListening,
): Promise<Result<void, string>> {
  return withStore(openWatched(options.database), async ({ store, isReady }) => {
    const errors = createErrorLog(report);
    // Requests may fail with the same message.
    store.events.on("storage_warning", errors.add);
    const requests = options.log
      ? createRequestLog(streams.stdout, systemClock, errors.add)
      : undefined;
    const port = portOfWorkers(options.port);
    const hooks = { onResponse: requests?.add, onError: errors.add };
    const listening = await listen(store, { ...options, port }, isReady, hooks);
    if (listening.isErr()) return err(listening.error);
    const { url, close } = listening.value;
    const stopped = untilStopped(stop, terminal, report);
    // If it fails, that is an unhandled rejection, which stops the server.
    void onListening(url, store);
    await stopped;
    await close();
    requests?.end();
    errors.end();
    return ok();
  });
}

async function openWatched(database: string) {
  return (await openStorage(database)).map((opened) => {
    const { storage, isReady } = watchWrites(opened, systemClock);
    const store = createPetStore({ storage });
    return { store, isReady, close: () => store.close() };
  });
}

async function serveWithWorkers(
  { database, workers: count, shutdownDelay }: ServeOptions,
  { terminal, stop, report }: CommandIO,
  onListening: OnListening,
  sums: Sums | undefined,
): Promise<Result<void, string>> {
  // Opened before the workers start, so that only one process creates the tables and the first key.
  return withStore(openStore(database), (store) => {
    const workers = startWorkers({
      count,
      shutdownDelay,
      report,
      sums,
      clock: systemClock,
      onListening: (url) => void onListening(url, store),
    });
    void untilStopped(stop, terminal, report).then(() => workers.stop());
    return workers.ended;
  });
}

async function printBanner(
  store: PetStore,
  url: string,
  { database, workers, firstKey, log }: ServeOptions,
  isNew: boolean,
  io: CommandIO,
): Promise<void> {
  const processes = workers > 1 ? ` with ${workers} workers` : "";
  const docs = new URL("/docs", url).href;
  const lines = [`petstore listens on ${url}${processes}`, `  try it    ${docs}`];
  if (database === IN_MEMORY) lines.push("  database  in memory: it ends with the server");
  else {
    const name = nameOf(database);
    const where = isPostgres(database) ? name : resolve(database);
    // If a package script runs this command, it is not on the shell's path.
    const isScript = process.env["npm_lifecycle_event"] !== undefined;
    const command = isScript ? "node_modules/.bin/petstore" : "petstore";
    const issue = `${command} keys issue --plan free --database ${quoted(name)}`;
    lines.push(`  database  ${where}${isNew ? " (new)" : ""}`, `  new key   ${issue}`);
  }
  io.terminal.out(lines.join("\n"));
  // With `--log`, these lines go to standard error. If they are lost, a secret would be lost there, too.
  const isLost = log && io.streams.stderr.errored instanceof Error;
  if (firstKey && !isLost) await issueFirstKey(store, url, io);
}

async function issueFirstKey(store: PetStore, url: string, { terminal, report }: CommandIO) {
  const listed = await store.keys.list({ limit: 1 });
  if (listed.isOk() && listed.value.keys.length > 0) return;
  const issue = () => store.keys.issue({ plan: "free", label: "first key" });
  const issued = await listed.asyncAndThen(issue);
  if (issued.isErr()) {
    report(`no first key was issued: ${describeStoreError(issued.error)}`);
    return;
  }
  const { secret } = issued.value;
  terminal.out(`
There was no API key yet. This is the first one, on the Free plan, shown only once. Try it:

  curl -i -H "Authorization: Bearer ${secret}" "${url}/pets?limit=5"
`);
  const problem = await terminal.written(true);
  if (problem !== undefined) report(`the first key could not be printed: ${problem}`);
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
