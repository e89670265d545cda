import { existsSync } from "node:fs";
import type { BlockList } from "node:net";
import { createPetStore, systemClock, type PetStore } from "@petstore/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeStoreError } from "../describe-error.js";
import { openStorage, openStore } from "../open-store.js";
import {
  commaSeparated,
  example,
  databaseOption,
  fileName,
  IN_MEMORY,
  isPostgres,
  nonBlank,
  wholeNumber,
} from "../options.js";
import { untilStopped } from "../stop-signal.js";
import type { CommandIO } from "../terminal.js";
import { printBanner } from "./banner.js";
import { orFromEnvironment } from "./environment.js";
import { watchWrites } from "./health.js";
import { createErrorLog, createRequestLog } from "./log.js";
import type { MetricsAddress } from "./metrics/metrics-server.js";
import { openMetrics } from "./metrics/metrics.js";
import type { Sums } from "./metrics/sums.js";
import { listen } from "./server.js";
import { addTrustedProxies, originBehind } from "./trusted-proxies.js";
import { isWorker, runAsWorker, startWorkers } from "./workers.js";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly workers: number;
  readonly keepAlive?: number;
  readonly shutdownDelay: number;
  readonly trustProxy?: BlockList;
  readonly cors?: "*" | readonly string[];
  readonly rateLimitFields?: true;
  readonly firstKey?: true;
  readonly log?: true;
  readonly metrics?: MetricsAddress;
  readonly poll: boolean;
}

/** `petstore serve`: serves the store over HTTP until it receives a signal. */
export function serveCommand(io: CommandIO): Command {
  const command = new Command("serve")
    .description("Serve the store over HTTP under /v1, until SIGTERM, SIGINT or SIGHUP.")
    .addOption(
      new Option("--host <address>", "the address to listen on")
        .default("127.0.0.1")
        // An empty address would mean every interface.
        .argParser(nonBlank("It must be an address.")),
    )
    .addOption(
      new Option("--port <number>", "the port to listen on; 0 for any free port")
        .default(3000)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(databaseOption(fileName))
    .addOption(
      new Option(
        "--cors <origin>",
        "pages of this origin may call the store; repeatable; * for all",
      ).argParser(addOrigins),
    )
    .addOption(new Option("--trust-proxy <address...>", TRUST_PROXY).argParser(addTrustedProxies))
    .option(
      "--keep-alive <seconds>",
      "how long a connection may be idle between requests (default: 5)",
      wholeNumber(1, 86_400),
    )
    .option(
      "--shutdown-delay <seconds>",
      "after a signal, serve on for so long while /readyz is 503, for a proxy to notice",
      wholeNumber(0, 3_600),
      0,
    )
    .option(
      "--rate-limit-fields",
      "also send RateLimit and RateLimit-Policy (a draft of the IETF), with both windows",
    )
    .option("--log", "write a line of JSON for each request to standard output")
    .option(
      "--metrics <[host:]port>",
      "serve metrics for Prometheus at /metrics of this port, on 127.0.0.1 unless a host is given",
      metricsAddress,
    )
    .option("--first-key", "if the database has no key yet, issue a Free one and print it")
    .option(
      "--workers <n>",
      "the number of processes that serve; they share the port and the limits",
      wholeNumber(1, 256),
      1,
    )
    .option("--no-poll", "sleep at once after a response, without polling for the next request")
    .addHelpText(
      "after",
      ENVIRONMENT + example("petstore serve --workers 4 --trust-proxy 10.0.0.0/8 ::1"),
    )
    .action(async (options: ServeOptions) => {
      (await serveAs(options, io)).mapErr(io.fail);
    });
  return orFromEnvironment(command, { host: "HOST", port: "PORT" });
}

const ENVIRONMENT = `
An argument wins over a variable (env). A variable of an option without a value is true or false; one of an option
that may be repeated has commas between its values.
`;

/** Adds origins, with commas between them, to those before them. `*` includes all others. */
function addOrigins(text: string, earlier?: "*" | readonly string[]): "*" | readonly string[] {
  return commaSeparated(text).reduce<"*" | readonly string[]>(
    (added, origin) => addOrigin(origin, added),
    earlier ?? [],
  );
}

function addOrigin(text: string, earlier: "*" | readonly string[]): "*" | readonly string[] {
  if (text === "*" || earlier === "*") return "*";
  if (!/^https?:/.test(text) || !URL.canParse(text) || new URL(text).origin !== text) {
    throw new InvalidArgumentError("It must be an origin such as https://shop.example, or *.");
  }
  return [...earlier, text];
}

function metricsAddress(text: string): MetricsAddress {
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]:|([^:]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535) {
    throw new InvalidArgumentError(
      "It must be a port, or an address and a port such as 0.0.0.0:9464.",
    );
  }
  return { host: bracketed ?? plain ?? "127.0.0.1", port: Number(port) };
}

const TRUST_PROXY =
  "proxies, or ranges such as 10.0.0.0/8, whose X-Forwarded-For says where a request comes from";

/** Serves in this process, starts workers, or serves as one of them. */
async function serveAs(options: ServeOptions, io: CommandIO): Promise<Result<void, string>> {
  const isNew = !isPostgres(options.database) && !existsSync(options.database);
  const onListening = (url: string, store: PetStore): Promise<void> =>
    printBanner(store, url, { ...options, isNew }, io);
  if (options.workers > 1 && options.database === IN_MEMORY) {
    return err("processes cannot share a database in memory: --workers needs a file");
  }
  const metrics = await openMetrics(options, io);
  if (metrics.isErr()) return err(metrics.error);
  const { own, sums, close } = metrics.value;
  if (isWorker()) {
    // The process that started the workers prints for all of them.
    const quiet = { ...io, terminal: { ...io.terminal, out: () => undefined } };
    const snapshot = own && (() => own.snapshot());
    await runAsWorker((listening) => serve(options, quiet, listening), snapshot);
    return ok();
  }
  const served =
    options.workers === 1
      ? await serve(options, io, onListening)
      : await serveWithWorkers(options, io, onListening, sums);
  close();
  return served;
}

/** Called when the server accepts connections at this URL. */
type OnListening = (url: string, store: PetStore) => Promise<void> | void;

async function serve(
  options: ServeOptions,
  { terminal, streams, report }: CommandIO,
  onListening: OnListening,
): Promise<Result<void, string>> {
  const { host, port, log, cors, trustProxy, keepAlive, shutdownDelay, rateLimitFields, poll } =
    options;
  const opened = await openStorage(options.database);
  if (opened.isErr()) return err(opened.error);
  const { storage, areFailing } = watchWrites(opened.value, systemClock);
  const store = createPetStore({ storage });
  const errors = createErrorLog(report);
  // Requests may fail with the same message.
  store.events.on("storage_warning", errors.add);
  const listening = await listen(store, {
    host,
    port,
    keepAlive,
    shutdownDelay,
    origins: cors,
    origin: trustProxy && originBehind(trustProxy),
    hasRateLimitFields: rateLimitFields === true,
    isPolling: poll,
    onResponse: log ? createRequestLog(streams.stdout, systemClock) : undefined,
    onError: errors.add,
    areWritesFailing: areFailing,
  });
  if (listening.isErr()) {
    await store.close();
    return err(listening.error);
  }
  const { url, close } = listening.value;
  const stopped = untilStopped(terminal, report);
  await onListening(url, store);
  await stopped;
  await close();
  errors.end();
  const closed = await store.close();
  return closed.mapErr(describeStoreError);
}

/** Serves with workers. They share keys, limits and pets through the database. */
async function serveWithWorkers(
  options: ServeOptions,
  { terminal, report }: CommandIO,
  onListening: OnListening,
  sums: Sums | undefined,
): Promise<Result<void, string>> {
  // Opened before the workers start, so that only one process creates the tables and the first key.
  const opened = await openStore(options.database);
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  const workers = startWorkers({
    count: options.workers,
    shutdownDelay: options.shutdownDelay,
    clock: systemClock,
    report,
    onListening: (url) => void onListening(url, store),
    sums,
  });
  void untilStopped(terminal, report).then(() => workers.stop());
  const ended = await workers.ended;
  const closed = await store.close();
  return ended.andThen(() => closed.mapErr(describeStoreError));
}
