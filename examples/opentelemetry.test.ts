import { metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { createPetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { expect, it, onTestFinished } from "vitest";

it("examples/opentelemetry.ts makes spans and metrics of the signals", async () => {
  const spans = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(spans)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  onTestFinished(async () => {
    await reader.shutdown();
    metrics.disable();
    trace.disable();
  });
  await import("./opentelemetry.js");

  const storage = (await openSqliteStorage({ filename: ":memory:" }))._unsafeUnwrap();
  const store = createPetStore({ storage, plans: { tiny: { perMinute: 1, perDay: 9 } } });
  const { secret } = (await store.keys.issue({ plan: "tiny" }))._unsafeUnwrap();
  const handle = createFetchHandler(store);
  const headers = { authorization: `Bearer ${secret}` };
  for (const path of ["/v1/pets/7", "/v1/pets"])
    await handle(new Request(`http://pets.test${path}`, { headers }));
  await store.close();

  expect(spans.getFinishedSpans().map(({ name, attributes }) => [name, attributes])).toEqual([
    ["GET /v1/pets/{petId}", expect.objectContaining({ "error.type": "pet_not_found" })],
    ["GET /v1/pets", expect.objectContaining({ "http.response.status_code": 429 })],
  ]);
  await reader.forceFlush();
  const collected = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  const names = collected
    .flatMap((scope) => scope.metrics)
    .map(({ descriptor }) => descriptor.name);
  expect(names).toEqual([
    "http.server.request.duration",
    "petstore.refusals",
    "petstore.commit.duration",
  ]);
});
