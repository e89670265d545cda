import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import prom from "prom-client";
import { expect, it, onTestFinished, vi } from "vitest";
import { startServer, textOf, useBuiltPetstore, workersOf } from "./support/built-petstore.js";
import { databaseWithKey, issueKey, ownPlan, serveHere, useServerHere } from "./support/command.js";
import { openSocket, sendUntilClosed } from "./support/raw-client.js";
import { portOf } from "../../../scripts/ports.js";
import { createSums, serveMetrics } from "../src/serve/metrics.js";
import { limitConnections } from "../src/serve/server.js";

const origin = (url: string) => new URL(url).origin;

useBuiltPetstore();
const server = useServerHere("--log", "--metrics", "0");

it("serve responds to /healthz and /readyz without a key, outside the base path", async () => {
  const get = async (path: string, method = "GET") => {
    const response = await fetch(origin(server().url) + path, { method });
    const names = ["allow", "content-type", "cache-control"];
    const headers = names.map((name) => response.headers.get(name));
    return [response.status, await response.text(), ...headers];
  };
  const uncached = [null, "application/json", "no-store"];
  expect(await get("/healthz")).toEqual([200, '{"status":"ok"}', ...uncached]);
  expect(await get("/readyz")).toEqual([200, '{"status":"ready"}', ...uncached]);
  expect(await get("/readyz?x", "HEAD")).toEqual([200, "", ...uncached]);
  expect(await get("/healthz", "POST")).toEqual([405, "", "GET, HEAD", null, null]);
});

async function statusOf(url: string, target: string, name = "127.0.0.1"): Promise<number> {
  const message = `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
  return Number((await sendUntilClosed(url, message)).slice(9, 12));
}

it("serve and its metrics take a target in absolute form", async () => {
  const [api, metrics] = [server().url, metricsOf(server())];
  for (const base of ["http://a", "HTTPS://a:1"]) {
    for (const path of ["/healthz", "/readyz?x", "/v1/openapi.json", "/openapi.json", "/docs"])
      expect(await statusOf(api, base + path), path).toBe(await statusOf(api, path));
    for (const path of ["", "?x"]) expect(await statusOf(api, base + path)).toBe(302);
    expect(await statusOf(api, `${base}/v1/pets`)).toBe(401);
    expect(await statusOf(metrics, `${base}/metrics`)).toBe(200);
  }
});

it("serve --log writes a line of JSON for each response, and never a key or a path", async () => {
  const { url, database, output } = server();
  const { secret, id } = await issueKey(database);
  const named = { "x-request-id": "mine" };
  const headers = { authorization: `Bearer ${secret}`, ...named };
  const paths = [`/pets?limit=5&key=${secret}`, `/pets/${secret}`, `/${secret}`, "/../healthz"];
  for (const path of paths) await (await fetch(url + path, { headers })).text();
  await (await fetch(`${url}/pets`, { headers: named })).text();
  const lines = () =>
    (output().match(/.*"requestId":"mine".*/g) ?? []).map((line) => JSON.parse(line) as unknown);
  await expect.poll(lines).toHaveLength(5);
  const [time, milliseconds] = [expect.any(Number), expect.any(Number)] as unknown[];
  const line = { level: 30, time, msg: "request", requestId: "mine", milliseconds };
  const own = { ...line, keyId: id };
  const none = { ...line, keyId: null };
  expect(lines()).toEqual([
    { ...own, operation: "listPets", status: 200, code: null },
    { ...own, operation: "getPet", status: 404, code: "pet_not_found" },
    { ...own, operation: null, status: 404, code: "not_found" },
    { ...none, operation: null, status: 200, code: null },
    { ...none, operation: "listPets", status: 401, code: "missing_api_key" },
  ]);
  expect(output()).not.toContain(secret.slice(13));
});

async function startMeasured(start: typeof serveHere, ...options: readonly string[]) {
  const { database, secret } = await databaseWithKey(...ownPlan(2, 9));
  const server = await start("--database", database, "--metrics", "0", ...options);
  const get = (path: string, key = secret) =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { server, database, get, scrape: async () => (await fetch(metricsOf(server))).text() };
}

const metricsOf = ({ output }: { readonly output: () => string }): string =>
  /metrics at (\S+)\n/.exec(output())?.[1] ?? "";

const COUNT = "http_server_request_duration_seconds_count";

function valueOf(text: string, name: string, ...labels: readonly string[]): number {
  const isMeant = (line: string): boolean =>
    /^\w+/.exec(line)?.[0] === name && labels.every((label) => line.includes(label));
  const values = text.split("\n").filter(isMeant);
  return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function expectCounted({ get, scrape }: Awaited<ReturnType<typeof startMeasured>>) {
  for (const path of ["/pets/7", "/pets?status=hostile", "/pets"]) await get(path);
  await get("/hostile", "hostile");
  await expect.poll(async () => valueOf(await scrape(), COUNT)).toBe(4);
  const text = await scrape();
  const route = 'http_route="/v1/pets/{petId}"';
  expect(valueOf(text, COUNT, route, 'http_response_status_code="404"')).toBe(1);
  const refusal = ['reason="minute"', 'plan="enterprise"'];
  expect(valueOf(text, "petstore_refusals_total", ...refusal)).toBe(1);
  expect(valueOf(text, "petstore_deprecated_calls_total")).toBe(1);
  expect(valueOf(text, "petstore_commit_calls_sum", 'group="charges"')).toBeGreaterThan(2);
  expect(text).toContain("nodejs_eventloop_lag_seconds");
  expect(text).not.toMatch(/hostile|pet_live_|127\.0\.0\.1|pets\.db/);
  return text;
}

it("serve --metrics counts requests, refusals, commits and failures, and sends all that panels and alerts ask for", async () => {
  const measured = await startMeasured(serveHere);
  const { server, database, get, scrape } = measured;
  const text = await expectCounted(measured);
  expectAnswers(text);

  expect(valueOf(text, "petstore_storage_failures_total")).toBe(0);
  rmSync(`${database}-shm`);
  await expect.poll(async () => (await get("/pets")).status).toBe(503);
  const status = 'http_response_status_code="503"';
  await expect.poll(async () => valueOf(await scrape(), COUNT, status)).toBe(1);
  expect(valueOf(await scrape(), "petstore_storage_failures_total")).toBe(1);
  expect(valueOf(await scrape(), "petstore_storage_warnings_total")).toBe(1);
  expect(await server.end()).toBe(0);
  await expect(scrape()).rejects.toThrow();
});

/** Expects that each panel and each alert of the documents asks for metrics and labels that are there. */
function expectAnswers(text: string): void {
  const names = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name));
  for (const [, name] of text.matchAll(/^# TYPE (\w+) (?!histogram)/gm)) names.add(name);
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label));
  const dashboard = textOf("docs/monitoring/grafana.json");
  const panels = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  const queries = panels.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThanOrEqual(10);
  const rules = textOf("docs/monitoring/alerts.yml").split("- alert: ").slice(1);
  expect(rules).toHaveLength(8);
  queries.push(...rules.map((rule) => /expr: (?:>-\n)?(.*?)\n {8}\w+:/s.exec(rule)?.[1] ?? ""));
  labels.add("job");
  names.add("up");
  for (const query of queries) {
    expect(query).toMatch(/job="(?:petstore|\$job)"/);
    const asked = [...query.matchAll(/\b(?:up|(?:http|petstore|process|nodejs)_\w+)(?=\{)/g)]
      .map(([name]) => name)
      .filter((name) => !labels.has(name));
    expect(asked, query).not.toEqual([]);
    for (const name of asked) expect(names, query).toContain(name);
    const by = [...query.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list = ""]) => list.split(", "));
    const matched = [...query.matchAll(/(\w+)=~?"/g)].map(([, label]) => label);
    for (const label of [...by, ...matched]) expect(labels, query).toContain(label);
  }
}

it("the sums of workers keep what one has counted that ended, but not its gauges", async () => {
  const sums = createSums(prom);
  const snapshot = (value: number) => {
    const registers = [new prom.Registry()];
    new prom.Counter({ name: "count", help: "a count", registers }).inc(value);
    new prom.Gauge({ name: "gauge", help: "a gauge", registers }).set(value);
    new prom.Histogram({ name: "sizes", help: "sizes", registers }).observe(value);
    return registers[0]?.getMetricsAsJSON() ?? [];
  };
  for (const worker of [1, 2]) sums.receive(worker, await snapshot(worker));
  for (const worker of [1, 3]) sums.retire(worker);
  expect((await sums.metrics()).match(/^\w+ \d$/gm)).toEqual([
    ...["count 3", "sizes_sum 3", "sizes_count 2", "gauge 2"],
  ]);
});

const zone = process.platform === "linux" ? "::1%lo" : "::1";
it.runIf(zone !== "::1")("killed workers listen on their port again; metrics add up", async () => {
  const address = ["--host", zone, "--metrics", `[${zone}]:0`];
  const started: { pid?: number } = {};
  const start = async (...args: readonly string[]) =>
    Object.assign(started, await startServer(...args));
  const measured = await startMeasured(start, "--workers", "2", ...address);
  const { server, scrape } = measured;
  await expectCounted(measured);
  for (const worker of workersOf(started)) process.kill(worker, "SIGKILL");
  await expect.poll(() => server.output().match(/is restarted/g)?.length).toBe(2);
  const health = () => fetch(`${origin(server.url)}/healthz`).then(({ status }) => status, String);
  await expect.poll(health).toBe(200);
  expect([valueOf(await scrape(), COUNT), await server.end()]).toEqual([4, 0]);
  expect(server.output()).toContain(" with 2 workers\n");
});

const COMMITS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const REQUESTS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The labels of a request of which no more is known than its method. */
const UNKNOWN = '"OWN",http_route="",http_response_status_code=""';

const HISTOGRAMS = [
  ["http_server_request_duration_seconds", UNKNOWN, 0.01, REQUESTS],
  ["petstore_commit_duration_seconds", "own", 0.01, COMMITS],
  ["petstore_commit_wait_seconds", "", 0.005, COMMITS],
  ["petstore_commit_calls", "own", 10, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]],
] as const;

it("serve --metrics measures in seconds, and a bucket includes its bound", async () => {
  const measured = await serveHere("--database", ":memory:", "--metrics", "0");
  const commit = { group: "own", calls: 10, waitMilliseconds: 5, commitMilliseconds: 10 };
  channel("petstore:transaction").publish(commit);
  channel("petstore:request").publish({ method: "OWN", milliseconds: 10 });
  channel("petstore:ban").publish({});
  const refused = { method: "GET", code: "api_key_banned", window: "day", plan: "pro" };
  const [unknown, deprecated] = [{ ...refused, plan: undefined }, { operation: "getPet" }];
  for (const request of [refused, unknown, deprecated, { ...deprecated, plan: "pro" }])
    channel("petstore:request").publish({ ...request, milliseconds: 0 });
  const text = await (await fetch(metricsOf(measured))).text();
  for (const plan of ['plan="pro"', 'plan="none"'])
    expect(valueOf(text, "petstore_refusals_total", 'reason="banned"', plan), plan).toBe(1);
  expect(valueOf(text, "petstore_deprecated_calls_total")).toBe(1);
  expect(valueOf(text, "petstore_bans_total")).toBe(1);
  expect(text).not.toMatch(/^# TYPE \w+_total gauge/m);
  for (const [name, label, value, bounds] of HISTOGRAMS) {
    expect(valueOf(text, `${name}_sum`, label), name).toBe(value);
    const bucket = new RegExp(`^${name}_bucket.le="(.*?)".*${label}.* (\\d)$`, "gm");
    const counts = [...text.matchAll(bucket)].map(([, bound, count]) => `${bound}: ${count}`);
    const expected = bounds.map((bound) => `${bound}: ${bound < value ? 0 : 1}`);
    expect(counts, name).toEqual([...expected, "+Inf: 1"]);
  }
});

it("serve --metrics answers nothing but GET /metrics by its name, however many clients do not read", async () => {
  const metrics = metricsOf(server());
  const { port, host } = new URL(metrics);
  const idle = sendUntilClosed(metrics, "");
  const silent = Array.from({ length: 60 }, () => connect(Number(port), "127.0.0.1"));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  for (const socket of silent) {
    socket.on("error", () => undefined).pause();
    socket.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
  }
  // Otherwise it would be told 408.
  expect(await idle).toBe("");
  const methods = Object.entries({ POST: [405, "GET, HEAD"], HEAD: [200, null] });
  for (const [method, expected] of methods) {
    const { status, headers } = await fetch(metrics, { method });
    expect([status, headers.get("allow")], method).toEqual(expected);
  }
  expect(await fetch(new URL("/", metrics))).toMatchObject({ status: 404 });
  expect((await fetch(`${server().url}/pets`)).status).toBe(401);
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(metrics)));
  for (const { status, headers } of answers)
    expect([status, headers.get("X-Content-Type-Options")]).toEqual([200, "nosniff"]);
  const [type] = answers.map(({ headers }) => headers.get("Content-Type"));
  expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");

  for (const [status, ...names] of [
    [200, host, `localhost:${port}`, `[::1]:${port}`, "127.0.0.1"],
    [403, `rebound.example:${port}`, `localhost.example:${port}`, "a[::1]", "[::1]a"],
  ] as const) {
    for (const name of names) expect(await statusOf(metrics, "/metrics", name), name).toBe(status);
  }
});

it("metrics that cannot be collected are an error; on an address for others, any name is right", async () => {
  const collect = vi.fn(() => Promise.reject(new Error("no worker")));
  const onError = vi.fn();
  const served = await serveMetrics({ host: "0.0.0.0", port: 0 }, collect, onError);
  const { url, close } = served._unsafeUnwrap();
  onTestFinished(close);
  for (const calls of [1, 2]) {
    expect(await statusOf(url, "/metrics", "metrics.example")).toBe(500);
    expect(collect).toHaveBeenCalledTimes(calls);
    expect(onError.mock.calls[calls - 1]).toEqual([expect.stringContaining("no worker")]);
  }
  const own = await serveMetrics({ host: zone, port: 0 }, () => Promise.resolve("pets 1"), onError);
  onTestFinished(own._unsafeUnwrap().close);
  expect(await (await fetch(own._unsafeUnwrap().url)).text()).toBe("pets 1");
});

it("a connection beyond the limit ends the one that has waited longest for a whole request, or itself", async () => {
  const answers: (() => void)[] = [];
  const server = createServer((request, response) =>
    request.resume().on("end", () => void answers.push(() => response.end("whole"))),
  );
  limitConnections(server, 2);
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${await portOf(server)}`;
  const open = async (message: string) => {
    const socket = await openSocket(url);
    socket.on("error", () => undefined).write(message);
    return socket;
  };
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx";
  const half = await open(post);
  await once(server, "request");
  server.once("connection", (socket) => socket.once("close", () => half.emit("gone")));
  (await open("")).destroy();
  await once(half, "gone");
  const idle = await open("");
  half.write("x");
  await expect.poll(() => answers.length).toBe(1);
  answers.pop()?.();
  await once(half, "data");
  half.write(post);
  await once(server, "request");
  const [running] = await Promise.all([open(`${post}x`), once(idle, "close")]);
  await expect.poll(() => answers.length).toBe(1);
  const [other] = await Promise.all([open(`${post}x`), once(half, "close")]);
  await expect.poll(() => answers.length).toBe(2);
  await once(await open(post), "close");
  for (const answer of answers) answer();
  await Promise.all([running, other].map((socket) => once(socket, "data")));
});
