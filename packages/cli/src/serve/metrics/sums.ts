import type PromClient from "prom-client";
import type { MetricObject, MetricObjectWithValues, MetricValue } from "prom-client";

/** The metrics of one process at one time. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The sums of the metrics of all workers. */
export interface Sums {
  /** Replaces the metrics of a running worker. */
  receive(worker: number, snapshot: Snapshot): void;
  /** Keeps what a worker has counted that has ended: counters never fall. */
  retire(worker: number): void;
  /** Returns the sums in the text format of Prometheus. */
  text(): Promise<string>;
}

/** Creates sums without workers. */
export function createSums({ AggregatorRegistry }: typeof PromClient): Sums {
  const running = new Map<number, Snapshot>();
  let ended: Promise<Snapshot> = Promise.resolve([]);

  const sum = (...snapshots: readonly Snapshot[]) =>
    AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot]));
  return {
    receive: (worker, snapshot) => void running.set(worker, snapshot),
    retire: (worker) => {
      const last = running.get(worker)?.filter(isCount) ?? [];
      running.delete(worker);
      ended = ended.then((earlier) => sum(earlier, last).getMetricsAsJSON());
    },
    text: async () => sum(await ended, ...running.values()).metrics(),
  };
}

/** The gauges of an ended process, such as its memory, mean nothing. */
function isCount({ type }: MetricObject): boolean {
  return String(type) === "counter" || String(type) === "histogram";
}
