import cluster from "node:cluster";
import { subscribe } from "node:diagnostics_channel";
import { createServer, type IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Signals } from "@petstore/core";
import { deprecationHeaders, originForm } from "@petstore/http-adapter/internal";
import { ok, type Result } from "neverthrow";
import type PromClient from "prom-client";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import { describeUnknownError } from "../describe-error.js";
import type { CommandIO } from "../terminal.js";
import { createErrorLog } from "./log.js";
import type { MetricsAddress, ServeOptions } from "./serve-options.js";
import { limitConnections, listenOn } from "./server.js";

interface Metrics {
  /** `undefined` unless this process is a worker. */
  readonly own?: Registry;
  /** `undefined` unless this process has started workers. */
  readonly sums?: Sums | undefined;
  readonly close?: () => void;
}

/** Starts to measure, and to serve metrics, if the options say so. `Err` says why it cannot listen. */
export async function openMetrics(
  { metrics: address, workers }: Pick<ServeOptions, "metrics" | "workers">,
  { terminal, report }: CommandIO,
): Promise<Result<Metrics, string>> {
  if (address === undefined) return ok({});
  // Without the option, prom-client is not even loaded.
  const { default: prom } = await import("prom-client");
  if (cluster.isWorker) return ok({ own: createMetrics(prom) });
  const sums = workers > 1 ? createSums(prom) : undefined;
  const source = sums ?? createMetrics(prom);
  const serving = await serveMetrics(address, () => source.metrics(), createErrorLog(report).add);
  return serving.map(({ url, close }) => {
    terminal.out(`metrics at ${url}`);
    return { sums, close };
  });
}

/** OpenTelemetry's advice for the duration of requests, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** A commit takes from microseconds in memory to seconds on a slow disk. */
const COMMIT_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const CALL_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Gauges of prom-client whose names are those of counters. */
const MISNAMED = ["handles", "requests", "resources"].map((name) => `nodejs_active_${name}_total`);

/** Names follow OpenTelemetry's conventions where there is one. No label holds a key, a path or an address. */
function createMetrics(prom: typeof PromClient): Registry {
  const registry = new prom.Registry();
  const registers = [registry];
  prom.collectDefaultMetrics({ register: registry });
  MISNAMED.forEach((name) => registry.removeSingleMetric(name));
  recordRequests(prom, registers);
  recordTransactions(prom, registers);
  const count = (signal: keyof Signals, name: string, help: string): void => {
    const counter = new prom.Counter({ name, help, registers });
    on(signal, () => counter.inc());
  };
  count("petstore:ban", "petstore_bans_total", "Bans of API keys that have begun.");
  const failures = "Calls that failed because the storage did.";
  count("petstore:storage-error", "petstore_storage_failures_total", failures);
  count("petstore:storage-warning", "petstore_storage_warnings_total", "Warnings of the storage.");
  return registry;
}

function recordRequests({ Counter, Histogram }: typeof PromClient, registers: Registry[]): void {
  const durations = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Duration of requests over HTTP.",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const refusals = new Counter({
    name: "petstore_refusals_total",
    help: "Requests refused with 429, by the limit and the plan of the key: none without a valid key.",
    labelNames: ["reason", "plan"],
    registers,
  });
  const deprecated = new Counter({
    name: "petstore_deprecated_calls_total",
    help: "Requests of deprecated operations that were not refused.",
    registers,
  });
  on("petstore:request", (request) => {
    const { operation, route = "", method, status = "", plan, milliseconds } = request;
    durations.labels(method, route, String(status)).observe(milliseconds / 1_000);
    const reason = request.code === "api_key_banned" ? "banned" : request.window;
    if (reason !== undefined) refusals.inc({ reason, plan: plan ?? "none" });
    else if (plan !== undefined && "Deprecation" in deprecationHeaders(operation)) deprecated.inc();
  });
}

function recordTransactions({ Histogram }: typeof PromClient, registers: Registry[]): void {
  const durations = new Histogram({
    name: "petstore_commit_duration_seconds",
    help: "Duration of transactions of the storage.",
    labelNames: ["group"],
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const sizes = new Histogram({
    name: "petstore_commit_calls",
    help: "Calls that share a transaction of the storage.",
    labelNames: ["group"],
    buckets: CALL_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: "petstore_commit_wait_seconds",
    help: "How long the first call of a transaction waits until it begins.",
    buckets: COMMIT_BUCKETS,
    registers,
  });
  on("petstore:transaction", ({ group, calls, waitMilliseconds, commitMilliseconds }) => {
    durations.observe({ group }, commitMilliseconds / 1_000);
    sizes.observe({ group }, calls);
    waits.observe(waitMilliseconds / 1_000);
  });
}

function on<Key extends keyof Signals>(key: Key, listener: (signal: Signals[Key]) => void): void {
  // eslint-disable-next-line @typescript-eslint/consistent-type-assertions -- Signals says what is published there.
  subscribe(key, (message) => listener(message as Signals[Key]));
}

/** Prometheus uses one connection. */
const MOST_CONNECTIONS = 32;
/** How long a client may take to send its request, in milliseconds. */
const TIMEOUT = 5_000;

/** Serves metrics at `/metrics`, for Prometheus. Requests that arrive together share a collection. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  collect: () => Promise<string>,
  onError: (error: unknown) => void,
) {
  let collecting: Promise<string> | undefined;
  const timeouts = { headersTimeout: TIMEOUT, requestTimeout: TIMEOUT, keepAliveTimeout: TIMEOUT };
  const server = createServer({ ...timeouts, connectionsCheckingInterval: 500 });
  limitConnections(server, MOST_CONNECTIONS);
  const listening = await listenOn(server, host, port);
  const address = server.address();
  const isLocal = typeof address === "object" && /^(?:::1$|127\.)/.test(address?.address ?? host);
  server.on("request", (request, response) => {
    const refusal = refusalOf(request, isLocal);
    if (refusal !== undefined) {
      response.writeHead(refusal, refusal === 405 ? { Allow: "GET, HEAD" } : {}).end();
      return;
    }
    collecting ??= collect().finally(() => (collecting = undefined));
    collecting.then(
      (text) => {
        const headers = { ...HEADERS, "Content-Length": Buffer.byteLength(text) };
        response.writeHead(200, headers).end(text);
      },
      (error: unknown) => {
        response.writeHead(500).end();
        onError(`metrics could not be collected: ${describeUnknownError(error)}`);
      },
    );
  });
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return listening.map((url) => ({ url: `${url}/metrics`, close }));
}

const HEADERS = {
  "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
};

function refusalOf(request: IncomingMessage, isLocal: boolean): number | undefined {
  const { url = "", method = "", headers } = request;
  if (isLocal && !isLocalName(headers.host ?? "localhost")) return 403;
  if (originForm(url).split("?", 1)[0] !== "/metrics") return 404;
  return method === "GET" || method === "HEAD" ? undefined : 405;
}

/** A page could let its own host name resolve to this address, and then read the metrics (DNS rebinding). */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d*$/, "");
  return name.toLowerCase() === "localhost" || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export type Sums = ReturnType<typeof createSums>;

const COUNTS = ["counter", "histogram"];

export function createSums({ AggregatorRegistry }: typeof PromClient) {
  const running = new Map<number, Snapshot>();
  let ended: Promise<Snapshot> = Promise.resolve([]);
  const sum = (...snapshots: readonly Snapshot[]) =>
    AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot]));
  return {
    receive: (worker: number, snapshot: Snapshot) => void running.set(worker, snapshot),
    // Counters never fall: what a worker has counted stays when it has ended. Its gauges mean nothing then.
    retire: (worker: number): void => {
      const last = running.get(worker)?.filter(({ type }) => COUNTS.includes(String(type))) ?? [];
      running.delete(worker);
      ended = ended.then((earlier) => sum(earlier, last).getMetricsAsJSON());
    },
    metrics: async () => sum(await ended, ...running.values()).metrics(),
  };
}
