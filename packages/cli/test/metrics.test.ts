import { readFileSync, rmSync } from "node:fs";
import { request as sendRequest } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { startServer, useBuiltPetstore, useServer, workersOf } from "./support/built-petstore.js";
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
  const lines = text.split("\n").filter((line) => new RegExp(`^${name}[{ ]`).test(line));
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
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

it("adds up what workers count, also of those that were killed", async () => {
  const measured = await startMeasured("--workers", "2");
  const { server, scrape } = measured;
  await expectCounted(measured);
  for (const worker of workersOf(server)) process.kill(worker, "SIGKILL");
  await expect.poll(() => server.output().match(/is restarted/g)?.length).toBe(2);
  await expect
    .poll(async () => valueOf(await scrape(), "process_cpu_seconds_total"))
    .toBeGreaterThan(0);
  expect(valueOf(await scrape(), COUNT)).toBe(4);
  expect(await server.end()).toBe(0);
});

/** Expects that each panel and each alert of the documents asks for metrics and labels that are there. */
function expectAnswers(text: string): void {
  const names = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name));
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    if (type !== "histogram") names.add(name);
  }
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label));
  const dashboard = JSON.parse(readFileSync(`${documents}grafana.json`, "utf8")) as {
    panels: { targets: { expr: string }[] }[];
  };
  const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const rules = readFileSync(`${documents}alerts.yml`, "utf8").split("- alert: ").slice(1);
  const alerts = rules.map((rule) => /expr: (?:>-\n)?(.*?)\n {8}\w+:/s.exec(rule)?.[1] ?? "");
  expect(panels.length).toBeGreaterThanOrEqual(10);
  expect(alerts).toHaveLength(6);
  for (const query of [...panels, ...alerts]) {
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

const idle = useServer("--metrics", "0");

it("answers nothing but GET /metrics, however many clients do not read", async () => {
  const metrics = metricsOf(idle());
  const { port } = new URL(metrics);
  const silent = Array.from({ length: 20 }, () => connect(Number(port), "127.0.0.1"));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  for (const socket of silent) {
    socket.on("error", () => undefined).pause();
    socket.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
  }
  expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  expect((await fetch(new URL("/", metrics))).status).toBe(404);
  expect((await fetch(`${idle().url}/pets`)).status).toBe(401);
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(metrics)));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
});

it("refuses another name on 127.0.0.1: a page whose name leads there could read the metrics", async () => {
  const metrics = metricsOf(idle());
  const { host, port } = new URL(metrics);
  const statusFor = (name: string) =>
    new Promise((resolve, reject) => {
      sendRequest(metrics, { headers: { Host: name } }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      })
        .on("error", reject)
        .end();
    });
  for (const name of [host, `localhost:${port}`, `[::1]:${port}`, "127.0.0.1"]) {
    expect(await statusFor(name), name).toBe(200);
  }
  for (const name of [`rebound.example:${port}`, `localhost.example:${port}`]) {
    expect(await statusFor(name), name).toBe(403);
  }
  expect((await fetch(metrics)).headers.get("X-Content-Type-Options")).toBe("nosniff");
});
