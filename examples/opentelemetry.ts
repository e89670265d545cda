// Makes spans and metrics of OpenTelemetry of what the pet store publishes. Import it when your SDK is set up.
import { subscribe } from "node:diagnostics_channel";
import { metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Signals } from "@petstore/core";

const tracer = trace.getTracer("petstore");
const meter = metrics.getMeter("petstore");
const seconds = { unit: "s" };
const requests = meter.createHistogram("http.server.request.duration", seconds);
const refusals = meter.createCounter("petstore.refusals");
const bans = meter.createCounter("petstore.bans");
const commits = meter.createHistogram("petstore.commit.duration", seconds);
const failures = meter.createCounter("petstore.storage.failures");

on("petstore:request", ({ method, route, status, code, plan, window, milliseconds }) => {
  const attributes = {
    "http.request.method": method,
    ...(route !== undefined && { "http.route": route }),
    ...(status !== undefined && { "http.response.status_code": status }),
    ...(code !== undefined && { "error.type": code }),
  };
  requests.record(milliseconds / 1_000, attributes);
  if (window !== undefined) refusals.add(1, { reason: window, plan: plan ?? "none" });
  const name = route === undefined ? method : `${method} ${route}`;
  const startTime = Date.now() - milliseconds;
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes });
  if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
});
on("petstore:ban", ({ plan }) => bans.add(1, { plan }));
on("petstore:transaction", ({ group, storage, commitMilliseconds }) =>
  commits.record(commitMilliseconds / 1_000, { group, storage }),
);
on("petstore:storage-error", () => failures.add(1));

function on<Name extends keyof Signals>(name: Name, listener: (signal: Signals[Name]) => void) {
  subscribe(name, (message) => listener(message as Signals[Name]));
}
