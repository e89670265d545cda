import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import { expect, it, onTestFinished } from "vitest";
import { startPostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";
import { inCi, sized } from "../../../../scripts/test-size.js";
import { hurried, startBuilt, startServer, textOf } from "../support/built-petstore.js";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { addPet, send, startWriters } from "../support/client.js";
import { issueUnlimitedKey, petsIn, petstore, skipWithout } from "../support/command.js";
import { freePort } from "../../../../scripts/ports.js";

type Values = Readonly<Record<string, unknown>>;

type Service = Partial<Record<"profiles" | "volumes", readonly string[]>> &
  Partial<Record<"environment" | "depends_on", Values>> & { readonly image?: string };

const { services, volumes } = parseYaml(textOf("compose.yaml")) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Values;
};
const { environment: settings = {} } = services["server-1"] ?? {};

it("compose.yaml refers only to what is there, and has the services that docs/deploying.md names", () => {
  for (const [name, service] of Object.entries(services)) {
    const { profiles, depends_on: needed = {} } = service;
    for (const other of Array.isArray(needed) ? (needed as string[]) : Object.keys(needed))
      expect(services[other]?.profiles, name).toEqual(profiles);
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

it("compose.yaml reads the settings that docs/deploying.md lists", () => {
  const read = [...textOf("compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const rows = textOf("docs/deploying.md").matchAll(/^\| `([A-Z_]+)` +\|/gm);
  expect([...rows].map(([, name]) => name).sort()).toEqual([...new Set(read)].sort());
});

it("compose.yaml gives servers a read-only file system, longer to stop than they need, and values that serve accepts", async () => {
  const servers = Object.values(services).filter(({ image }) => image === "petstore");
  const expected = { read_only: true, stop_grace_period: "30s" };
  expect(servers).toMatchObject([expected, expected, expected]);
  const { PETSTORE_TRUST_PROXY: proxies, PETSTORE_KEEP_ALIVE: keepAlive } = settings;
  const options = ["--trust-proxy", String(proxies), "--keep-alive", String(keepAlive)];
  const refused = await petstore("serve", ...options, "--database", "/nowhere/pets.db");
  expect(refused.error).toMatch(/^petstore: cannot use the database/);
});

const HAPROXY = existsSync("/usr/sbin/haproxy") ? "/usr/sbin/haproxy" : "haproxy";

/** The servers and the proxy keep their intervals, each a quarter as long. */
const PACE = 4;
const program = useBuiltPetstore();
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
  const url = await startHaproxy(...ports);

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

const [, nginx = ""] = /```nginx\n(.*?)```/s.exec(textOf("docs/embedding.md")) ?? [];

it.runIf(inCi).for<[string, (server: URL) => Promise<string>]>([
  ["haproxy", ({ port }) => startHaproxy(port, port)],
  [
    "nginx",
    ({ host }) => {
      const own = `daemon off; pid ${createFolder()}/pid; error_log stderr; events {}`;
      return startProxy(["/usr/sbin/nginx", "-c"], `${own} http { access_log off; ${nginx} }`, {
        "127.0.0.1:3000": host,
        "server {": "server {\n  listen ADDRESS;",
      });
    },
  ],
])("%s, as documented, lets no client choose its address", async ([name, start], { skip }) => {
  skipWithout(`/usr/sbin/${name}`, skip, name);
  const { url } = await startServer("--database", ":memory:", "--trust-proxy", "127.0.0.1");
  const behind = await start(new URL(url));
  const left: number[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "127.0.0.1", "192.0.2.3, 127.0.0.1"]) {
    const headers = { "X-Forwarded-For": address, Forwarded: `for=${address}` };
    const { headers: received } = await fetch(`${behind}/pets`, { headers });
    left.push(Number(received.get("x-ratelimit-remaining")));
  }
  const [first = 0] = left;
  expect(left).toEqual([first, first - 1, first - 2, first - 3]);
});

/** Starts the proxy of the composition before servers on these ports. Resolves to its base address. */
const startHaproxy = (one: number | string, two: number | string) =>
  startProxy([HAPROXY, "-db", "-f"], textOf("deploy/haproxy.cfg"), {
    " :8080\n": " ADDRESS\n",
    " inter 1s ": ` inter ${1_000 / PACE}ms `,
    " server-1:3000\n": ` 127.0.0.1:${one}\n`,
    " server-2:3000\n": ` 127.0.0.1:${two}\n`,
  });

/** Starts a proxy with these settings, each changed once. Resolves to its base address when it responds. */
async function startProxy(
  [program = "", ...args]: readonly string[],
  settings: string,
  changes: Readonly<Record<string, string>>,
): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(createFolder(), "proxy.cfg");
  let text = settings;
  for (const [from, to] of Object.entries(changes)) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to.replace("ADDRESS", address));
  }
  writeFileSync(file, text);
  const proxy = spawn(program, [...args, file], { stdio: "ignore" });
  const ended = once(proxy, "exit");
  onTestFinished(async () => {
    proxy.kill("SIGTERM");
    await ended;
  });
  const respond = () => fetch(`http://${address}/v1/pets`).catch(() => undefined);
  await expect.poll(async () => (await respond())?.status).toBe(401);
  return `http://${address}/v1`;
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
  expect(analyze("security", "--offline=true", "--threshold=15")).toMatchObject({ status: 0 });
  const user = /^User=petstore\nDynamicUser=yes\nStateDirectory=petstore\b/m;
  expect(textOf(`deploy/${name}`)).toMatch(user);
});

it("deploy/petstore.service and deploy/petstore-backup.service run the command; old backups go after a new one", () => {
  const commandOf = (file: string, key: string): string => {
    const [, command = ""] = new RegExp(`^${key}=(.*)$`, "m").exec(textOf(`deploy/${file}`)) ?? [];
    return command.replaceAll("$$", "$").replaceAll("%%", "%");
  };
  expect(commandOf("petstore.service", "StartLimitIntervalSec")).toBe("0");
  const serve = commandOf("petstore.service", "ExecStart");
  const [, path = ""] = /node_modules\/@petstore\/cli\/(\S+) serve$/.exec(serve) ?? [];
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
  for (const [name, days] of Object.entries({ old: 16, recent: 13 })) {
    writeFileSync(join(backups, `${name}.db`), "");
    const time = Date.now() / 1_000 - days * 86_400;
    utimesSync(join(backups, `${name}.db`), time, time);
  }
  expect(run("ExecStart", "ExecStartPost")).toEqual([0, 0]);
  const [backup = "", ...others] = readdirSync(backups).toSorted();
  expect(others).toEqual(["recent.db"]);
  expect(backup).toMatch(/^\d{4}-\d\d-\d\dT\d{6}\.db$/);
});

const settingFiles = ["Dockerfile", "compose.yaml", `deploy/${UNITS[0]}`, `deploy/${UNITS[1]}`];

it.each(settingFiles)("%s sets only variables that serve reads", async (file) => {
  const { out } = await petstore("serve", "--help");
  const variables = textOf(file).match(/PETSTORE_\w+/g) ?? [];
  expect(variables.length).toBeGreaterThan(0);
  for (const variable of variables) expect(out).toContain(variable);
});
