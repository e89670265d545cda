import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { sized } from "../../../../scripts/test-size.js";
import {
  hurried,
  startBuilt,
  useBuiltPetstore,
  type BuiltServer,
} from "../support/built-petstore.js";
import { addPet, send, startWriters } from "../support/client.js";
import { issueUnlimitedKey, petstore } from "../support/command.js";
import { freePort } from "../../../../scripts/ports.js";
import { root } from "./image.js";

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

const isInstalled = (program: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

/** Debian's folder for it is not in everybody's PATH. */
const HAPROXY = existsSync("/usr/sbin/haproxy") ? "/usr/sbin/haproxy" : "haproxy";

const howToInstall = (name: string): string =>
  `${name} is not installed: run \`apt-get update && apt-get install -y ${name}\`.`;

interface Service {
  readonly profiles?: readonly string[];
  readonly image?: string;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const composition = parseYaml(textOf("compose.yaml")) as Compose;

describe("compose.yaml", () => {
  const { services, volumes } = composition;
  const ofProfile = (wanted: string): readonly string[] =>
    Object.keys(services).filter((name) => services[name]?.profiles?.includes(wanted));

  it("has a profile with one server and SQLite, and one with two servers, PostgreSQL and a proxy", () => {
    expect(ofProfile("sqlite")).toEqual(["server"]);
    expect(ofProfile("postgres")).toEqual(["server-1", "server-2", "postgres", "proxy"]);
  });

  it("refers only to what is there", async () => {
    const { out } = await petstore("serve", "--help");
    for (const [name, service] of Object.entries(services)) {
      const { depends_on: needed = [], environment = {}, image } = service;
      for (const other of Array.isArray(needed) ? needed : Object.keys(needed)) {
        expect(services[other as string]?.profiles, name).toEqual(service.profiles);
      }
      for (const volume of service.volumes ?? []) {
        const [source = ""] = volume.split(":");
        if (source.startsWith("./")) expect(textOf(source)).not.toBe("");
        else expect(volumes).toHaveProperty(source);
      }
      if (image !== "petstore") continue;
      for (const variable of Object.keys(environment)) expect(out).toContain(variable);
    }
  });

  it("reads the settings that docs/deploying.md lists", () => {
    const read = [...textOf("compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    const rows = textOf("docs/deploying.md").matchAll(/^\| `([A-Z_]+)` +\|/gm);
    expect([...rows].map(([, name]) => name).sort()).toEqual([...new Set(read)].sort());
  });

  it("gives servers a read-only file system, and longer to stop than they need", () => {
    const servers = Object.values(services).filter(({ image }) => image === "petstore");
    expect(servers).toHaveLength(3);
    for (const server of servers) {
      expect(server).toMatchObject({ read_only: true, stop_grace_period: "30s" });
    }
  });

  it("sets values that serve accepts", async () => {
    const { environment = {} } = services["server-1"] ?? {};
    const { PETSTORE_TRUST_PROXY: proxies, PETSTORE_KEEP_ALIVE: keepAlive } = environment;
    const options = ["--trust-proxy", String(proxies), "--keep-alive", String(keepAlive)];
    const refused = await petstore("serve", ...options, "--database", "/nowhere/pets.db");
    expect(refused.error).toMatch(/^petstore: cannot use the database/);
  });
});

/** The servers and the proxy keep their intervals, each a quarter as long. */
const PACE = 4;

describe("deploy/haproxy.cfg", () => {
  const program = useBuiltPetstore();
  const postgres = usePostgres();

  it("loses no request while one server after the other is restarted", async ({ skip }) => {
    skip(!isInstalled(HAPROXY), howToInstall("haproxy"));
    const database = postgres.url();
    const secret = await issueUnlimitedKey(database);
    const { environment = {} } = composition.services["server-1"] ?? {};
    const options = [
      ...["--log", "--database", database, "--trust-proxy", "127.0.0.0/8"],
      ...["--keep-alive", String(environment["PETSTORE_KEEP_ALIVE"])],
      ...["--shutdown-delay", String(environment["PETSTORE_SHUTDOWN_DELAY"])],
    ];
    const start = (port: number): Promise<BuiltServer> =>
      startBuilt(
        [process.execPath, ...hurried(PACE), program()],
        "--port",
        String(port),
        ...options,
      );
    const ports = [await freePort(), await freePort()] as const;
    const servers = [await start(ports[0]), await start(ports[1])];
    const url = await startProxy(ports);

    const { created, stop } = startWriters(4, (_, agent) => addPet(url, agent, secret, "Rex"));
    const statuses = new Set<number>();
    let [served, isEnding] = [0, false];
    const list = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true });
      for (; !isEnding; served += 1) {
        statuses.add((await send(`${url}/pets`, agent, secret)).status);
      }
      agent.destroy();
    };
    const readers = Promise.all([list(), list(), list(), list()]);
    const hundredMore = (): Promise<void> => {
      const before = served;
      return expect.poll(() => served).toBeGreaterThan(before + 50);
    };
    for (let round = 0; round < sized(2, 20, 100); round += 1) {
      const index = round % 2;
      await hundredMore();
      expect(await servers[index]?.end()).toBe(0);
      await hundredMore();
      const { output } = (servers[index] = await start(ports[index] ?? 0));
      await expect.poll(output).toContain('"operation":"createPet"');
    }
    await hundredMore();
    isEnding = true;
    await Promise.all([readers, stop()]);
    expect([...statuses]).toEqual([200]);
    const { out } = await petstore("pets", "export", "--database", database);
    expect(out.split("\n")).toHaveLength(created.size);
  });
});

/** Starts the proxy of the composition before servers on these ports. Resolves to its base address. */
async function startProxy(ports: readonly number[]): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const folder = mkdtempSync(join(tmpdir(), "petstore-proxy-"));
  const file = join(folder, "haproxy.cfg");
  const places = ports.map((port, index) => [
    ` server-${index + 1}:3000\n`,
    ` 127.0.0.1:${port}\n`,
  ]);
  const changes = [
    [" :8080\n", ` ${address}\n`],
    [" inter 1s ", ` inter ${1_000 / PACE}ms `],
    ...places,
  ];
  let text = textOf("deploy/haproxy.cfg");
  for (const [from = "", to = ""] of changes) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  const proxy = spawn(HAPROXY, ["-db", "-f", file], { stdio: "ignore" });
  const ended = once(proxy, "exit");
  onTestFinished(async () => {
    proxy.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });
  const isUp = (): Promise<boolean> =>
    fetch(`http://${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp).toBe(true);
  return `http://${address}/v1`;
}

describe("deploy/petstore.service", () => {
  const unit = textOf("deploy/petstore.service");

  it("is a unit that systemd accepts and finds safe", ({ skip }) => {
    skip(!isInstalled("systemd-analyze"), howToInstall("systemd"));
    const folder = mkdtempSync(join(tmpdir(), "petstore-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "petstore.service");
    writeFileSync(file, unit.replace("/usr/bin/node", process.execPath));
    const analyze = (...args: readonly string[]) => {
      const { status, stderr } = spawnSync("systemd-analyze", [...args, file], {
        encoding: "utf8",
      });
      return { status, stderr };
    };
    expect(analyze("verify")).toEqual({ status: 0, stderr: "" });
    // From 0, safe, to 100.
    const safe = analyze("security", "--offline=true", "--threshold=15");
    expect(safe).toMatchObject({ status: 0 });
  });

  it("sets only variables that serve reads, and runs a file of the package", async () => {
    const { out } = await petstore("serve", "--help");
    const variables = unit.match(/PETSTORE_\w+/g) ?? [];
    expect(variables.length).toBeGreaterThan(0);
    for (const variable of variables) expect(out).toContain(variable);
    const [, path = ""] =
      /^ExecStart=.*node_modules\/@petstore\/cli\/(\S+) serve$/m.exec(unit) ?? [];
    expect(textOf(`packages/cli/${path}`)).not.toBe("");
  });
});
