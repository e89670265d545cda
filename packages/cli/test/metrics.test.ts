import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { startServer, useBuiltPetstore, workersOf } from "./support/built-petstore.js";
import { issueKey, newDatabase } from "./support/command.js";

useBuiltPetstore();

const documents = fileURLToPath(new URL("../../../docs/monitoring/", import.meta.url));

/** Starts a server with metrics, and a key of a plan of two requests a minute. */
async function startMeasured(...options: readonly string[]) {
  const database = newDatabase();
  const limits = ["--per-minute", "2", "--per-day", "9"];
  const { secret } = await issueKey(database, "--plan", "enterprise", ...limits);
  const server = await startServer("--database", database, "--metrics", "0", ...options);
  const get = (path: string, key = secret) =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { server, database, get, scrape: async () => (await fetch(metricsOf(server))).text() };
}

/** The address at which a server has said that its metrics are. */
function metricsOf({ output }: { readonly output: () => string }): string {
  return /metrics at (\S+)\n/.exec(output())?.[1] ?? "";
}

const COUNT = "http_server_request_duration_seconds_count";

/** Returns the sum of the values of a metric with these labels. */
function valueOf(text: string, name: string, ...labels: readonly string[]): number {
  const isMeant = (line: string): boolean =>
    /^\w+/.exec(line)?.[0] === name && labels.every((label) => line.includes(label));
  const values = text.split("\n").filter(isMeant);
  return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Sends four requests, and expects that they are counted, and that nothing is said of their client. */
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

it("counts requests, refusals, commits and failures, and sends all that panels and alerts ask for", async () => {
  const measured = await startMeasured();
  const { server, database, get, scrape } = measured;
  const text = await expectCounted(measured);
  expectAnswers(text);

  expect(valueOf(text, "petstore_storage_failures_total")).toBe(0);
  rmSync(`${database}-shm`);
  // The files of a database are looked at every 100 ms.
  await expect.poll(async () => (await get("/pets")).status).toBe(503);
  const status = 'http_response_status_code="503"';
  await expect.poll(async () => valueOf(await scrape(), COUNT, status)).toBe(1);
  expect(valueOf(await scrape(), "petstore_storage_failures_total")).toBe(1);
  expect(valueOf(await scrape(), "petstore_storage_warnings_total")).toBe(1);
  expect(await server.end()).toBe(0);
});

/** Expects that each panel and each alert of the documents asks for metrics and labels that are there. */
function expectAnswers(text: string): void {
  const names = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name));
  for (const [, name] of text.matchAll(/^# TYPE (\w+) (?!histogram)/gm)) names.add(name);
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label));
  const dashboard = readFileSync(`${documents}grafana.json`, "utf8");
  const panels = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  const queries = panels.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThanOrEqual(10);
  const rules = readFileSync(`${documents}alerts.yml`, "utf8").split("- alert: ").slice(1);
  expect(rules).toHaveLength(6);
  queries.push(...rules.map((rule) => /expr: (?:>-\n)?(.*?)\n {8}\w+:/s.exec(rule)?.[1] ?? ""));
  for (const query of queries) {
    const asked = [...query.matchAll(/\b(?:http|petstore|process|nodejs)_\w+(?=[\s{[/)]|$)/g)]
      .map(([name]) => name)
      .filter((name) => !labels.has(name));
    expect(asked, query).not.toEqual([]);
    for (const name of asked) expect(names, query).toContain(name);
    const by = [...query.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list = ""]) => list.split(", "));
    const matched = [...query.matchAll(/(\w+)=~?"/g)].map(([, label]) => label);
    for (const label of [...by, ...matched]) expect(labels, query).toContain(label);
  }
}

it("adds up what workers count, also of those that were killed", async () => {
  const measured = await startMeasured("--workers", "2");
  const { server, scrape } = measured;
  await expectCounted(measured);
  for (const worker of workersOf(server)) process.kill(worker, "SIGKILL");
  await expect.poll(() => server.output().match(/is restarted/g)?.length).toBe(2);
  const cpu = async () => valueOf(await scrape(), "process_cpu_seconds_total");
  await expect.poll(cpu).toBeGreaterThan(0);
  expect(valueOf(await scrape(), COUNT)).toBe(4);
  expect(await server.end()).toBe(0);
});

it("answers nothing but GET /metrics by its name, however many clients do not read", async () => {
  const server = await startServer("--database", ":memory:", "--metrics", "0");
  const metrics = metricsOf(server);
  const { port, host } = new URL(metrics);
  const silent = Array.from({ length: 20 }, () => connect(Number(port), "127.0.0.1"));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  for (const socket of silent) {
    socket.on("error", () => undefined).pause();
    socket.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
  }
  expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  expect((await fetch(new URL("/", metrics))).status).toBe(404);
  expect((await fetch(`${server.url}/pets`)).status).toBe(401);
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(metrics)));
  for (const { status, headers } of answers)
    expect([status, headers.get("X-Content-Type-Options")]).toEqual([200, "nosniff"]);

  // A page whose name leads to 127.0.0.1 could read the metrics.
  for (const [status, ...names] of [
    [200, host, `localhost:${port}`, `[::1]:${port}`, "127.0.0.1"],
    [403, `rebound.example:${port}`, `localhost.example:${port}`],
  ] as const) {
    for (const name of names) {
      const sent = sendRequest(metrics, { headers: { Host: name }, agent: false }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      expect(response.resume().statusCode, name).toBe(status);
    }
  }
});
