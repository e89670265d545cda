import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { freePort } from "../../../../scripts/ports.js";
import { inCi } from "../../../../scripts/test-size.js";
import { root, startServer, textOf, useBuiltPetstore } from "../support/built-petstore.js";
import { databaseWithKey, ownPlan, skipWithout } from "../support/command.js";

useBuiltPetstore();

const rules = join(root, "docs/monitoring/alerts.yml");

const promtool = (args: readonly string[], input = "") =>
  spawnSync("promtool", args, { input, encoding: "utf8" });

/** Writes a file of settings, of which every JSON is one, and returns its path. */
function fileOf(settings: unknown): string {
  const file = join(createFolder(), "settings.yml");
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

const { groups } = parseYaml(textOf("docs/monitoring/alerts.yml")) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
};
const alerts = groups.flatMap((group) => group.rules);
const REQUESTS = "http_server_request_duration_seconds";
const COMMITS = "petstore_commit_duration_seconds_bucket";

/** What makes an alert fire, in the notation of promtool: values a minute apart. */
const trouble: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PetStoreDown: { "up{JOB}": "1 1 0x60" },
  PetStoreAbsent: { 'up{job="other"}': "1x60" },
  PetStoreServerErrors: {
    [`${REQUESTS}_count{JOB,http_response_status_code="200"}`]: "0+98x60",
    [`${REQUESTS}_count{JOB,http_response_status_code="503"}`]: "0+2x60",
  },
  PetStoreStorageFails: { "petstore_storage_failures_total{JOB}": "0+1x60" },
  PetStoreSlowCommits: {
    [`${COMMITS}{JOB,le="0.1",group="writes"}`]: "0+98x60",
    [`${COMMITS}{JOB,le="0.5",group="writes"}`]: "0+100x60",
    [`${COMMITS}{JOB,le="+Inf",group="writes"}`]: "0+100x60",
  },
  PetStoreSlowRequests: {
    [`${REQUESTS}_bucket{JOB,le="0.5"}`]: "0+98x60",
    [`${REQUESTS}_bucket{JOB,le="0.75"}`]: "0+100x60",
    [`${REQUESTS}_bucket{JOB,le="+Inf"}`]: "0+100x60",
  },
  PetStoreBans: { "petstore_bans_total{JOB}": "0x10 4x60" },
  PetStoreStorageWarns: { "petstore_storage_warnings_total{JOB}": "0x30 1x60" },
};

describe.runIf(inCi)("docs/monitoring, read by Prometheus", () => {
  it.for(alerts)("$alert fires, and not for another job", ({ alert }, { skip }) => {
    skipWithout("promtool", skip, "prometheus");
    const troubles = Object.entries(trouble[alert] ?? {});
    expect(troubles).not.toEqual([]);
    for (const [job, value] of Object.entries({ petstore: 1, other: 0 })) {
      const series = troubles.map(([name, rest]) => [name.replace("JOB", `job="${job}"`), rest]);
      if (job === "other") series.push(['up{job="petstore"}', "1x90"]);
      const input_series = series.map(([name, values]) => ({ series: name, values }));
      const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
      const promql_expr_test = [{ expr, eval_time: "45m", exp_samples: [{ labels: "{}", value }] }];
      const tests = [{ interval: "1m", input_series, promql_expr_test }];
      const file = fileOf({ rule_files: [rules], evaluation_interval: "1m", tests });
      const { status, stdout, stderr } = promtool(["test", "rules", file]);
      expect(stdout + stderr, job).toContain("SUCCESS");
      expect(status).toBe(0);
    }
  });

  it("metrics of workers are clean, and every panel and rule has a result", async ({ skip }) => {
    skipWithout("prometheus", skip);
    const { database, secret } = await databaseWithKey(...ownPlan(2, 9));
    const server = await startServer("--database", database, "--workers", "2", "--metrics", "0");
    const [, metrics = ""] = /metrics at (\S+)\n/.exec(server.output()) ?? [];
    const get = (path: string) =>
      fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
    for (const path of ["/pets", "/pets/1", "/pets"]) await get(path);
    const scrape = async () => (await fetch(metrics)).text();
    await expect.poll(scrape).toContain("petstore_refusals_total{");
    const clean = { status: 0, stderr: "", stdout: "" };
    expect(promtool(["check", "metrics"], await scrape())).toMatchObject(clean);
    expect(promtool(["check", "rules", rules])).toMatchObject({ status: 0 });

    const targets = [new URL(metrics).host];
    const config = fileOf({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rules],
      scrape_configs: [{ job_name: "petstore", static_configs: [{ targets }] }],
    });
    const address = `127.0.0.1:${await freePort()}`;
    const options = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${createFolder()}`,
      `--web.listen-address=${address}`,
    ];
    const prometheus = spawn("prometheus", options, { stdio: "ignore" });
    onTestFinished(() => void prometheus.kill("SIGKILL"));
    const ask = async <T>(path: string): Promise<T | undefined> => {
      const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => undefined);
      return response?.ok === true ? ((await response.json()) as { data: T }).data : undefined;
    };
    const { panels } = JSON.parse(textOf("docs/monitoring/grafana.json")) as {
      panels: { targets: { expr: string }[] }[];
    };
    for (const { expr } of panels.flatMap((panel) => panel.targets)) {
      const query = expr.replaceAll("$job", "petstore").replaceAll("$__rate_interval", "1m");
      const path = `query?query=${encodeURIComponent(query)}`;
      const results = async () => (await ask<{ result: unknown[] }>(path))?.result.length ?? 0;
      await expect.poll(results, { message: query }).toBeGreaterThan(0);
      await get("/pets");
    }
    const health = async () => {
      const found = await ask<{ groups: { rules: { health: string }[] }[] }>("rules");
      return found?.groups.flatMap((group) => group.rules.map((rule) => rule.health));
    };
    await expect.poll(health).toEqual(alerts.map(() => "ok"));
    expect(await server.end()).toBe(0);
    await expect.poll(async () => JSON.stringify(await ask("alerts"))).toContain("PetStoreDown");
  });
});
