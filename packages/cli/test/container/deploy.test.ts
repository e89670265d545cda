import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYaml } from "@redocly/openapi-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { startPostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { inCi, sized } from "../../../../scripts/test-size.js";
import { hurried, startBuilt, useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, send, startWriters } from "../support/client.js";
import { issueUnlimitedKey, petsIn, petstore, skipWithout } from "../support/command.js";
import { freePort } from "../../../../scripts/ports.js";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

type Values = Readonly<Record<string, unknown>>;

interface Service {
  readonly profiles?: readonly string[];
  readonly image?: string;
  readonly environment?: Values;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Values;
}

const { services, volumes } = parseYaml(textOf("compose.yaml")) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Values;
};
const { environment: settings = {} } = services["server-1"] ?? {};

describe("compose.yaml", () => {
  it("refers only to what is there, and has the services that docs/deploying.md names", () => {
    for (const [name, service] of Object.entries(services)) {
      const { depends_on: needed = [] } = service;
      for (const other of Array.isArray(needed) ? needed : Object.keys(needed))
        expect(services[other as string]?.profiles, name).toEqual(service.profiles);
      for (const volume of service.volumes ?? []) {
        const [source = ""] = volume.split(":");
        if (source.startsWith("./")) expect(textOf(source)).not.toBe("");
        else expect(volumes).toHaveProperty(source);
      }
    }
    const commands = textOf("docs/deploying.md").matchAll(/--profile (\w+) .*?\b(server[-\d]*) /g);
    for (const [, profile, service = ""] of commands)
      expect(services[service]?.profiles, service).toEqual([profile]);
  });

  it("reads the settings that docs/deploying.md lists", () => {
    const read = [...textOf("compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    const rows = textOf("docs/deploying.md").matchAll(/^\| `([A-Z_]+)` +\|/gm);
    expect([...rows].map(([, name]) => name).sort()).toEqual([...new Set(read)].sort());
  });

  it("gives servers a read-only file system, longer to stop than they need, and values that serve accepts", async () => {
    const servers = Object.values(services).filter(({ image }) => image === "petstore");
    const expected = { read_only: true, stop_grace_period: "30s" };
    expect(servers).toMatchObject([expected, expected, expected]);
    const { PETSTORE_TRUST_PROXY: proxies, PETSTORE_KEEP_ALIVE: keepAlive } = settings;
    const options = ["--trust-proxy", String(proxies), "--keep-alive", String(keepAlive)];
    const refused = await petstore("serve", ...options, "--database", "/nowhere/pets.db");
    expect(refused.error).toMatch(/^petstore: cannot use the database/);
  });
});

/** Debian's folder for it is not in everybody's PATH. */
const HAPROXY = existsSync("/usr/sbin/haproxy") ? "/usr/sbin/haproxy" : "haproxy";

/** The servers and the proxy keep their intervals, each a quarter as long. */
const PACE = 4;

const program = useBuiltPetstore();

/** How often a server is restarted. */
const ROUNDS = sized(0, 20, 100);

it.runIf(inCi)("deploy/haproxy.cfg loses no request while servers restart", async ({ skip }) => {
  skipWithout(HAPROXY, skip, "haproxy");
  const database = (await startPostgres()).url();
  const secret = await issueUnlimitedKey(database);
  const options = [
    ...["--log", "--database", database, "--trust-proxy", "127.0.0.0/8"],
    ...["--keep-alive", String(settings["PETSTORE_KEEP_ALIVE"])],
    ...["--shutdown-delay", String(settings["PETSTORE_SHUTDOWN_DELAY"])],
  ];
  const command = [process.execPath, ...hurried(PACE), program()];
  const start = (port: number) => startBuilt(command, "--port", String(port), ...options);
  const ports = [await freePort(), await freePort()] as const;
  const servers = [await start(ports[0]), await start(ports[1])];
  const url = await startProxy(ports);

  const { created, stop } = startWriters(4, (_, agent) => addPet(url, agent, secret, "Rex"));
  const statuses = new Set<number>();
  let [served, isEnding] = [0, false];
  const list = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true });
    for (; !isEnding; served += 1) statuses.add((await send(`${url}/pets`, agent, secret)).status);
    agent.destroy();
  };
  const readers = Promise.all([list(), list(), list(), list()]);
  const fiftyMore = () => {
    const before = served;
    return expect.poll(() => served).toBeGreaterThan(before + 50);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const index = round % 2;
    await fiftyMore();
    expect(await servers[index]?.end()).toBe(0);
    await fiftyMore();
    const { output } = (servers[index] = await start(ports[index] ?? 0));
    await expect.poll(output).toContain('"operation":"createPet"');
  }
  await fiftyMore();
  isEnding = true;
  await Promise.all([readers, stop()]);
  expect([...statuses]).toEqual([200]);
  for (const server of servers) await server.end();
  const unserved = await fetch(`${url}/pets`);
  expect([unserved.status, unserved.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await unserved.json()).toMatchObject({ code: "storage_unavailable", status: 503 });
  expect(await petsIn(database)).toHaveLength(created.size);
});

describe.runIf(inCi)("behind the proxies of the documents", () => {
  const [, nginx = ""] = /```nginx\n(.*?)```/s.exec(textOf("docs/embedding.md")) ?? [];
  const inFront: Readonly<Record<string, (server: string) => Promise<string>>> = {
    haproxy: (server) => {
      const port = Number(new URL(server).port);
      return startProxy([port, port]);
    },
    nginx: async (server) => {
      const address = `127.0.0.1:${await freePort()}`;
      const file = join(createFolder(), "nginx.conf");
      const site = nginx
        .replace("127.0.0.1:3000", new URL(server).host)
        .replace("server {", `server {\n  listen ${address};`);
      writeFileSync(
        file,
        `daemon off; pid ${file}.pid; error_log stderr; events {} http { access_log off; ${site} }`,
      );
      return startBefore(["/usr/sbin/nginx", "-c", file], `http://${address}/v1`);
    },
  };
  it.for(Object.keys(inFront))("%s lets no client choose its address", async (name, { skip }) => {
    skipWithout(`/usr/sbin/${name}`, skip, name);
    const { url } = await startBuilt(
      [process.execPath, program()],
      "--database",
      ":memory:",
      "--trust-proxy",
      "127.0.0.1",
    );
    const behind = await inFront[name]?.(url);
    const left: (string | null)[] = [];
    for (const address of ["192.0.2.1", "192.0.2.2", "127.0.0.1", "192.0.2.3, 127.0.0.1"]) {
      const headers = { "X-Forwarded-For": address, Forwarded: `for=${address}` };
      const { headers: received } = await fetch(`${behind}/pets`, { headers });
      left.push(received.get("x-ratelimit-remaining"));
    }
    const [first = 0] = left.map(Number);
    expect(left.map(Number)).toEqual([first, first - 1, first - 2, first - 3]);
  });
});

/** Starts the proxy of the composition before servers on these ports. Resolves to its base address. */
async function startProxy([one, two]: readonly [number, number]): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(createFolder(), "haproxy.cfg");
  let text = textOf("deploy/haproxy.cfg");
  for (const [from, to] of [
    [" :8080\n", ` ${address}\n`],
    [" inter 1s ", ` inter ${1_000 / PACE}ms `],
    [" server-1:3000\n", ` 127.0.0.1:${one}\n`],
    [" server-2:3000\n", ` 127.0.0.1:${two}\n`],
  ] as const) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  return startBefore([HAPROXY, "-db", "-f", file], `http://${address}/v1`);
}

/** Starts a proxy that serves at this base address, and resolves to it when the server behind it responds. */
async function startBefore(
  [command = "", ...args]: readonly string[],
  url: string,
): Promise<string> {
  const proxy = spawn(command, args, { stdio: "ignore" });
  const ended = once(proxy, "exit");
  onTestFinished(async () => {
    proxy.kill("SIGTERM");
    await ended;
  });
  const respond = () => fetch(`${url}/pets`).catch(() => undefined);
  await expect.poll(async () => (await respond())?.status).toBe(401);
  return url;
}

const UNITS = ["petstore.service", "petstore-backup.service", "petstore-backup.timer"] as const;

it.for(UNITS)("deploy/%s is a unit that systemd accepts and finds safe", (name, { skip }) => {
  skipWithout("systemd-analyze", skip, "systemd");
  const folder = createFolder();
  for (const each of UNITS) {
    const text = textOf(`deploy/${each}`).replace("/usr/bin/node", process.execPath);
    writeFileSync(join(folder, each), text);
  }
  const analyze = (...args: readonly string[]) =>
    spawnSync("systemd-analyze", [...args, join(folder, name)], { encoding: "utf8" });
  expect(analyze("verify")).toMatchObject({ status: 0, stderr: "" });
  if (!name.endsWith(".service")) return;
  // From 0, safe, to 100.
  expect(analyze("security", "--offline=true", "--threshold=15")).toMatchObject({ status: 0 });
  // A dynamic user belongs to its name: two names could not share a folder.
  expect(textOf(`deploy/${name}`)).toMatch(
    /^User=petstore\nDynamicUser=yes\nStateDirectory=petstore\b/m,
  );
});

it("deploy/petstore.service and deploy/petstore-backup.service run the command; old backups go after a new one", () => {
  const commandOf = (file: string, key: string): string => {
    const [, command = ""] = new RegExp(`^${key}=(.*)$`, "m").exec(textOf(`deploy/${file}`)) ?? [];
    return command.replaceAll("$$", "$").replaceAll("%%", "%");
  };
  const [, path = ""] =
    /node_modules\/@petstore\/cli\/(\S+) serve$/.exec(commandOf("petstore.service", "ExecStart")) ??
    [];
  expect(textOf(`packages/cli/${path}`)).not.toBe("");

  const folder = createFolder();
  const database = join(folder, "pets.db");
  const backups = join(folder, "backups");
  mkdirSync(backups);
  const run = (...keys: readonly string[]) =>
    keys.map((key) => {
      const command = commandOf("petstore-backup.service", key)
        .replace(/\/usr\/bin\/node \S+/, `${process.execPath} ${program()}`)
        .replaceAll("/var/lib/petstore", folder);
      const env = { ...process.env, NODE_PATH: "", PETSTORE_DATABASE: database };
      return spawnSync("sh", ["-c", command], { env, encoding: "utf8" }).status;
    });
  expect(run("ExecStart")).toEqual([1]);
  spawnSync(process.execPath, [program(), "migrate", "--database", database]);
  for (const [name, days] of [
    ["old", 16],
    ["recent", 13],
  ] as const) {
    writeFileSync(join(backups, `${name}.db`), "");
    const time = Date.now() / 1_000 - days * 86_400;
    utimesSync(join(backups, `${name}.db`), time, time);
  }
  expect(run("ExecStart", "ExecStartPost")).toEqual([0, 0]);
  const [backup = "", ...others] = readdirSync(backups).toSorted();
  expect(others).toEqual(["recent.db"]);
  expect(backup).toMatch(/^\d{4}-\d\d-\d\dT\d{6}\.db$/);
});

it.each([
  "Dockerfile",
  "compose.yaml",
  "deploy/petstore.service",
  "deploy/petstore-backup.service",
])("%s sets only variables that serve reads", async (file) => {
  const { out } = await petstore("serve", "--help");
  const variables = textOf(file).match(/PETSTORE_\w+/g) ?? [];
  expect(variables.length).toBeGreaterThan(0);
  for (const variable of variables) expect(out).toContain(variable);
});
