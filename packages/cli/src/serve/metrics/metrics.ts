import { subscribe } from "node:diagnostics_channel";
import type { Signals } from "@petstore/core";
import type { RequestSignal } from "@petstore/core/internal";
import { err, ok, type Result } from "neverthrow";
import type PromClient from "prom-client";
import type { Registry } from "prom-client";
import type { CommandIO } from "../../terminal.js";
import { isWorker } from "../workers.js";
import { serveMetrics, type MetricsAddress } from "./metrics-server.js";
import { createSums, type Snapshot, type Sums } from "./sums.js";

/** The metrics of a process, and the server that serves them. */
export interface Metrics {
  /** The metrics of this process, if it serves requests and metrics. */
  readonly own: ProcessMetrics | undefined;
  /** The sums of the workers' metrics, if this process has started workers. */
  readonly sums: Sums | undefined;
  readonly close: () => void;
}

interface MetricsOptions {
  readonly metrics?: MetricsAddress;
  readonly workers: number;
}

const NONE: Metrics = { own: undefined, sums: undefined, close: () => undefined };

/** Starts to measure, and to serve metrics, if the options say so. `Err` says why it cannot listen. */
export async function openMetrics(
  { metrics: address, workers }: MetricsOptions,
  { terminal }: CommandIO,
): Promise<Result<Metrics, string>> {
  if (address === undefined) return ok(NONE);
  // Without the option, prom-client is not even loaded.
  const { default: prom } = await import("prom-client");
  if (isWorker()) return ok({ ...NONE, own: createMetrics(prom) });
  const sums = workers > 1 ? createSums(prom) : undefined;
  const own = sums === undefined ? createMetrics(prom) : undefined;
  const serving = await serveMetrics(address, () => (own ?? sums)?.text() ?? Promise.resolve(""));
  if (serving.isErr()) return err(serving.error);
  const { url, close } = serving.value;
  terminal.out(`metrics at ${url}`);
  return ok({ own, sums, close });
}

/** The metrics of one process. */
interface ProcessMetrics {
  /** Returns them in the text format of Prometheus. */
  text(): Promise<string>;
  /** Returns them as they are summed over processes. */
  snapshot(): Promise<Snapshot>;
}

/** OpenTelemetry's advice for the duration of requests, in seconds. */
const REQUEST_BUCKETS = [
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75],
  ...[1, 2.5, 5, 7.5, 10],
];
/** A commit takes from microseconds in memory to seconds on a slow disk. */
const COMMIT_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const CALL_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Gauges of prom-client whose names are those of counters. */
const MISNAMED = ["handles", "requests", "resources"].map((name) => `nodejs_active_${name}_total`);

/**
 * Creates the metrics of this process, which count from now on. Names follow OpenTelemetry's conventions where there
 * is one. Labels have few values: none holds a key, a path or an address.
 */
function createMetrics(prom: typeof PromClient): ProcessMetrics {
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  MISNAMED.forEach((name) => registry.removeSingleMetric(name));
  const histograms = [recordRequests(prom, registry), ...recordCommits(prom)];
  const readHistograms = () => Promise.all(histograms.map((histogram) => histogram.read()));
  const registers = [registry];
  const bans = new prom.Counter({
    name: "petstore_bans_total",
    help: "Bans of API keys that have begun.",
    registers,
  });
  const failures = new prom.Counter({
    name: "petstore_storage_failures_total",
    help: "Calls that failed because the storage did.",
    registers,
  });
  const warnings = new prom.Counter({
    name: "petstore_storage_warnings_total",
    help: "Warnings of the storage.",
    registers,
  });
  on("petstore:ban", () => bans.inc());
  on("petstore:storage-error", () => failures.inc());
  on("petstore:storage-warning", () => warnings.inc());
  return {
    text: async () => {
      const rendered = prom.AggregatorRegistry.aggregate([await readHistograms()]);
      return `${await registry.metrics()}\n${await rendered.metrics()}`;
    },
    snapshot: async () => [...(await registry.getMetricsAsJSON()), ...(await readHistograms())],
  };
}

function recordRequests(prom: typeof PromClient, registry: Registry): Histogram {
  const registers = [registry];
  const durations = createHistogram(prom, {
    name: "http_server_request_duration_seconds",
    help: "Duration of requests over HTTP.",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"],
    buckets: REQUEST_BUCKETS,
  });
  const refusals = new prom.Counter({
    name: "petstore_refusals_total",
    help: "Requests refused with 429, by the limit and the plan of the key: none without a valid key.",
    labelNames: ["reason", "plan"],
    registers,
  });
  const deprecated = new prom.Counter({
    name: "petstore_deprecated_calls_total",
    help: "Requests of deprecated operations that were not refused.",
    registers,
  });
  on("petstore:request", (request) => {
    const { operation, route = "", method, status = "", plan, milliseconds } = request;
    durations.observe(milliseconds / 1_000, method, route, String(status));
    const reason = reasonOf(request);
    if (reason !== undefined) refusals.inc({ reason, plan: plan ?? "none" });
    else if (operation === "getPet" && plan !== undefined) deprecated.inc();
  });
  return durations;
}

/** Returns why a request was refused with 429. */
function reasonOf({ code, window }: RequestSignal): string | undefined {
  return code === "api_key_banned" ? "banned" : window;
}

function recordCommits(prom: typeof PromClient): readonly Histogram[] {
  const durations = createHistogram(prom, {
    name: "petstore_commit_duration_seconds",
    help: "Duration of transactions of the storage.",
    labelNames: ["group"],
    buckets: COMMIT_BUCKETS,
  });
  const calls = createHistogram(prom, {
    name: "petstore_commit_calls",
    help: "Calls that share a transaction of the storage.",
    labelNames: ["group"],
    buckets: CALL_BUCKETS,
  });
  const waits = createHistogram(prom, {
    name: "petstore_commit_wait_seconds",
    help: "How long the first call of a transaction waits until it begins.",
    labelNames: [],
    buckets: COMMIT_BUCKETS,
  });
  on("petstore:transaction", (transaction) => {
    durations.observe(transaction.commitMilliseconds / 1_000, transaction.group);
    calls.observe(transaction.calls, transaction.group);
    waits.observe(transaction.waitMilliseconds / 1_000);
  });
  return [durations, calls, waits];
}

function on<Name extends keyof Signals>(
  name: Name,
  listener: (signal: Signals[Name]) => void,
): void {
  // eslint-disable-next-line @typescript-eslint/consistent-type-assertions -- Signals says what is published there.
  subscribe(name, (message) => listener(message as Signals[Name]));
}

/** A histogram that counts by itself. prom-client only renders what it has counted. */
interface Histogram {
  /** Adds a value, with the values of the labels in the order of their names. */
  observe(value: number, ...labels: readonly string[]): void;
  read(): Promise<Snapshot[number]>;
}

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly buckets: readonly number[];
}

/** What a histogram has counted of one set of labels. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** How many values are in each bucket, and at the end those beyond the last one. */
  readonly counts: number[];
  sum: number;
}

/**
 * Creates a histogram. `observe` of prom-client's own takes five times as long: it checks and joins the names and values
 * of the labels each time.
 */
function createHistogram(prom: typeof PromClient, options: HistogramOptions): Histogram {
  const { name, help, labelNames, buckets } = options;
  const empty = new prom.Histogram({ name, help, registers: [] });
  const series = new Map<string, Series>();

  const addSeries = (key: string, values: readonly string[]): Series => {
    const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? ""]));
    const added = { labels, counts: Array<number>(buckets.length + 1).fill(0), sum: 0 };
    series.set(key, added);
    return added;
  };
  // As with prom-client, a histogram without labels is there before its first value.
  if (labelNames.length === 0) addSeries("", []);
  return {
    observe: (value, ...values) => {
      const key = values.join(" ");
      const counted = series.get(key) ?? addSeries(key, values);
      let bucket = 0;
      while (value > (buckets[bucket] ?? Infinity)) bucket += 1;
      counted.counts[bucket] = (counted.counts[bucket] ?? 0) + 1;
      counted.sum += value;
    },
    read: async () => ({
      ...(await empty.get()),
      values: [...series.values()].flatMap((each) => valuesOf(name, buckets, each)),
    }),
  };
}

/** Returns the values as Prometheus has them: each bucket includes those below it. */
function valuesOf(name: string, buckets: readonly number[], { labels, counts, sum }: Series) {
  let count = 0;
  const cumulative = counts.map((each, bucket) => {
    count += each;
    const le = buckets[bucket] ?? "+Inf";
    return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...cumulative,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
