import { readFileSync, rmSync } from "node:fs";
import { createServer, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore } from "./support/command.js";

useBuiltPetstore();

const documents = fileURLToPath(new URL("../../../docs/monitoring/", import.meta.url));

/** Starts a server with metrics, and a key of a plan of two requests a minute. */
async function startMeasured(...options: readonly string[]) {
  const database = newDatabase();
  const limits = ["--per-minute", "2", "--per-day", "9"];
  const { secret } = await issueKey(database, "--plan", "enterprise", ...limits);
  const server = await startServer("--database", database, "--metrics", "0", ...options);
  const [, metrics = ""] = /metrics at (\S+)\n/.exec(server.output()) ?? [];
  const get = (path: string, key = secret, more: RequestInit = {}) =>
    fetch(`${server.url}${path}`, { ...more, headers: { authorization: `Bearer ${key}` } });
  const create = (body: string) =>
    get("/pets", secret, { method: "POST", body: Buffer.from(body) });
  return {
    server,
    database,
    metrics,
    get,
    create,
    scrape: async () => (await fetch(metrics)).text(),
  };
}

/** Returns the sum of the values of a metric with these labels. */
function valueOf(text: string, name: string, ...labels: readonly string[]): number {
  const lines = text.split("\n").filter((line) => new RegExp(`^${name}[{ ]`).test(line));
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

it.each([[[]], [["--workers", "2"]]])(
  "counts requests, refusals and commits of all processes, and says nothing of their clients: %j",
  async (options) => {
    const { server, get, scrape } = await startMeasured(...options);
    for (const path of ["/pets/7", "/pets?status=hostile", "/pets"]) await get(path);
    await get("/hostile", "hostile");
    const count = "http_server_request_duration_seconds_count";
    await expect.poll(async () => valueOf(await scrape(), count)).toBe(4);
    const text = await scrape();
    const route = 'http_route="/v1/pets/{petId}"';
    expect(valueOf(text, count, route, 'http_response_status_code="404"')).toBe(1);
    const refusal = ['reason="minute"', 'plan="enterprise"'];
    expect(valueOf(text, "petstore_refusals_total", ...refusal)).toBe(1);
    expect(valueOf(text, "petstore_deprecated_calls_total")).toBe(1);
    expect(valueOf(text, "petstore_commit_calls_sum", 'group="charges"')).toBeGreaterThan(2);
    expect(text).toContain("nodejs_eventloop_lag_seconds");
    expect(text).not.toMatch(/hostile|pet_live_|127\.0\.0\.1|pets\.db/);
    expect(await server.end()).toBe(0);
  },
);

it("counters do not fall when a worker is killed", async () => {
  const { server, get, scrape } = await startMeasured("--workers", "2");
  const count = "http_server_request_duration_seconds_count";
  for (let request = 0; request < 8; request += 1) await get("/pets");
  await expect.poll(async () => valueOf(await scrape(), count)).toBe(8);
  const list = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8");
  for (const worker of list.trim().split(" ")) process.kill(Number(worker), "SIGKILL");
  await expect.poll(() => server.output().match(/is restarted/g)?.length).toBe(2);
  await expect
    .poll(async () => valueOf(await scrape(), "process_cpu_seconds_total"))
    .toBeGreaterThan(0);
  expect(valueOf(await scrape(), count)).toBe(8);
  await server.end();
});

it("each panel and each alert asks for metrics and labels that the server sends", async () => {
  const { get, scrape } = await startMeasured();
  for (let request = 0; request < 3; request += 1) await get("/pets");
  await expect.poll(async () => valueOf(await scrape(), "petstore_refusals_total")).toBe(1);
  const text = await scrape();
  const names = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name));
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    if (type !== "histogram") names.add(name);
  }
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label));

  const dashboard = JSON.parse(readFileSync(`${documents}grafana.json`, "utf8")) as {
    panels: { title: string; targets: { expr: string }[] }[];
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
});

it("counts failures of a storage that is gone", async () => {
  const { server, database, create, scrape } = await startMeasured();
  expect(valueOf(await scrape(), "petstore_storage_failures_total")).toBe(0);
  rmSync(`${database}-shm`);
  expect((await create('{"name":"Rex","categoryId":1}')).status).toBe(503);
  const status = 'http_response_status_code="503"';
  const count = "http_server_request_duration_seconds_count";
  await expect.poll(async () => valueOf(await scrape(), count, status)).toBe(1);
  const text = await scrape();
  expect(valueOf(text, "petstore_storage_failures_total")).toBe(1);
  expect(valueOf(text, "petstore_storage_warnings_total")).toBe(1);
  expect(await server.end()).toBe(0);
});

it("answers nothing but GET /metrics, however many clients do not read", async () => {
  const { server, metrics, get } = await startMeasured();
  const { port } = new URL(metrics);
  const silent = Array.from({ length: 20 }, () => connect(Number(port), "127.0.0.1"));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  for (const socket of silent) {
    socket.on("error", () => undefined).pause();
    socket.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
  }
  expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  expect((await fetch(new URL("/", metrics))).status).toBe(404);
  expect((await get("/pets")).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(metrics)));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(await server.end()).toBe(0);
});

it("refuses another name on 127.0.0.1: a page whose name leads there could read the metrics", async () => {
  const { server, metrics } = await startMeasured();
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
  expect(await server.end()).toBe(0);
});

it("says in one line that the port of the metrics is in use, with exit code 1", async () => {
  const other = createServer();
  const port = String(await portOf(other));
  onTestFinished(() => void other.close());
  const args = ["--metrics", port, "--port", "0", "--database", newDatabase()];
  const { code, error } = await petstore("serve", ...args);
  expect({ code, error }).toEqual({
    code: 1,
    error: `petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use`,
  });
});
