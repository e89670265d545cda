import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYaml } from "@redocly/openapi-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { freePort } from "../../../../scripts/ports.js";
import { inCi } from "../../../../scripts/test-size.js";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { issueKey, newDatabase, skipWithout } from "../support/command.js";

useBuiltPetstore();

const folder = fileURLToPath(new URL("../../../../docs/monitoring/", import.meta.url));
const rules = `${folder}alerts.yml`;

const promtool = (args: readonly string[], input = "") =>
  spawnSync("promtool", args, { input, encoding: "utf8" });

interface Rule {
  readonly alert: string;
  readonly for?: string;
}

const { groups } = parseYaml(readFileSync(rules, "utf8")) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};

/** What makes an alert fire, in the notation of promtool: values a minute apart. */
const trouble: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PetStoreDown: { up: "1 1 0x60" },
  PetStoreAbsent: { "up of another job": "1x60" },
  PetStoreServerErrors: {
    'http_server_request_duration_seconds_count status="200"': "0+98x60",
    'http_server_request_duration_seconds_count status="503"': "0+2x60",
  },
  PetStoreStorageFails: { petstore_storage_failures_total: "0+1x60" },
  PetStoreSlowCommits: {
    'petstore_commit_duration_seconds_bucket le="0.1",group="writes"': "0+98x60",
    'petstore_commit_duration_seconds_bucket le="0.5",group="writes"': "0+100x60",
    'petstore_commit_duration_seconds_bucket le="+Inf",group="writes"': "0+100x60",
  },
  PetStoreSlowRequests: {
    'http_server_request_duration_seconds_bucket le="0.5"': "0+98x60",
    'http_server_request_duration_seconds_bucket le="0.75"': "0+100x60",
    'http_server_request_duration_seconds_bucket le="+Inf"': "0+100x60",
  },
  PetStoreBans: { petstore_bans_total: "0x10 4x60" },
  PetStoreStorageWarns: { petstore_storage_warnings_total: "0x30 1x60" },
};

/** A series as promtool takes it, of the job of the store or of another one. */
function seriesOf(name: string, values: string, job: string) {
  const [metric = "", labels = ""] = name.split(" ", 2);
  const own = labels.includes("=")
    ? `,${labels.replace("status", "http_response_status_code")}`
    : "";
  return {
    series: `${metric}{job="${name.includes("another") ? "other" : job}",instance="a"${own}}`,
    values,
  };
}

describe.runIf(inCi)("docs/monitoring, read by Prometheus", () => {
  it.for(groups.flatMap((group) => group.rules))(
    "$alert fires, and not for another job",
    ({ alert }, { skip }) => {
      skipWithout("promtool", skip, "prometheus");
      const series = Object.entries(trouble[alert] ?? {});
      expect(series).not.toEqual([]);
      const firing = (job: string) => {
        const input = series.map(([name, values]) => seriesOf(name, values, job));
        // Without a series of the job, only one alert fires.
        if (job === "other")
          input.push({ series: 'up{job="petstore",instance="a"}', values: "1x90" });
        const tests = [
          {
            interval: "1m",
            input_series: input,
            promql_expr_test: [
              {
                expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
                eval_time: "45m",
                exp_samples: [{ labels: "{}", value: job === "petstore" ? 1 : 0 }],
              },
            ],
          },
        ];
        const file = join(createFolder(), "test.yml");
        writeFileSync(
          file,
          JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }),
        );
        return promtool(["test", "rules", file]);
      };
      for (const job of ["petstore", "other"]) {
        const { status, stdout, stderr } = firing(job);
        expect(stdout + stderr, job).toContain("SUCCESS");
        expect(status).toBe(0);
      }
    },
  );

  it("the metrics of workers are clean, and every panel and rule has a result", async ({
    skip,
  }) => {
    skipWithout("prometheus", skip);
    const database = newDatabase();
    const plan = "--plan enterprise --per-minute 2 --per-day 9".split(" ");
    const { secret } = await issueKey(database, ...plan);
    const server = await startServer("--database", database, "--workers", "2", "--metrics", "0");
    const [, metrics = ""] = /metrics at (\S+)\n/.exec(server.output()) ?? [];
    const get = (path: string) =>
      fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
    for (const path of ["/pets", "/pets/1", "/pets"]) await get(path);
    await expect
      .poll(async () => (await fetch(metrics)).text())
      .toContain("petstore_refusals_total{");
    expect(promtool(["check", "metrics"], await (await fetch(metrics)).text())).toMatchObject({
      status: 0,
      stderr: "",
      stdout: "",
    });
    expect(promtool(["check", "rules", rules])).toMatchObject({ status: 0 });

    const place = createFolder();
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rules],
      scrape_configs: [
        { job_name: "petstore", static_configs: [{ targets: [new URL(metrics).host] }] },
      ],
    };
    writeFileSync(join(place, "prometheus.yml"), JSON.stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    const options = [
      `--config.file=${place}/prometheus.yml`,
      `--storage.tsdb.path=${place}/data`,
      `--web.listen-address=${address}`,
    ];
    const prometheus = spawn("prometheus", options, { stdio: "ignore" });
    onTestFinished(() => void prometheus.kill("SIGKILL"));
    const ask = async (path: string): Promise<unknown> => {
      const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => undefined);
      return response?.ok === true
        ? ((await response.json()) as { data: unknown }).data
        : undefined;
    };
    const panels = JSON.parse(readFileSync(`${folder}grafana.json`, "utf8")) as {
      panels: { targets: { expr: string }[] }[];
    };
    for (const { expr } of panels.panels.flatMap(({ targets }) => targets)) {
      const query = expr.replaceAll("$job", "petstore").replaceAll("$__rate_interval", "1m");
      const result = async () => {
        const found = (await ask(`query?query=${encodeURIComponent(query)}`)) as
          { result: unknown[] } | undefined;
        return found?.result.length ?? 0;
      };
      await expect.poll(result, { message: query }).toBeGreaterThan(0);
      await get("/pets");
    }
    const health = async () => {
      const found = (await ask("rules")) as
        { groups: { rules: { name: string; health: string }[] }[] } | undefined;
      return found?.groups.flatMap(({ rules: all }) => all.map((rule) => rule.health));
    };
    const ok = groups.flatMap((group) => group.rules.map(() => "ok"));
    await expect.poll(health).toEqual(ok);
    expect(await server.end()).toBe(0);
    await expect.poll(async () => JSON.stringify(await ask("alerts"))).toContain("PetStoreDown");
  });
});
