import { err, ok, type Result } from "neverthrow";
import type { CommandIO } from "../../terminal.js";
import { isWorker } from "../workers.js";
import { createMetrics, type ProcessMetrics } from "./metrics.js";
import { serveMetrics, type MetricsAddress } from "./metrics-server.js";
import { createSums, type Sums } from "./sums.js";

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
