import type PromClient from "prom-client";
import type { Snapshot } from "./sums.js";

/** A histogram that counts by itself. prom-client only renders what it has counted. */
export interface Histogram {
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
export function createHistogram(prom: typeof PromClient, options: HistogramOptions): Histogram {
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
