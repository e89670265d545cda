import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { petstore } from "../support/command.js";
import { freePort } from "../../../../scripts/ports.js";
import { openSocket } from "../support/raw-client.js";
import { build, instructions, root, wordsOf, type Image } from "./image.js";

describe("the Dockerfile", () => {
  const all = (name: string): readonly string[] =>
    instructions.filter((each) => each.name === name).map(({ text }) => text);

  it("uses the slim image of Node's LTS, another user than root and no shell, and installs nothing in the final stage", () => {
    expect(all("FROM")).toEqual(["node:24-slim AS build", "node:24-slim"]);
    expect(all("USER")).toEqual(["1000:1000"]);
    for (const name of ["ENTRYPOINT", "CMD", "HEALTHCHECK"]) {
      for (const text of all(name)) expect(wordsOf(text)).not.toContain("sh");
    }
    const final = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
    expect(final.filter(({ name }) => name === "RUN")).toHaveLength(1);
    expect(JSON.stringify(final)).not.toMatch(/npm|apt-get|curl/);
  });

  it("sets only variables that serve reads", async () => {
    const { out } = await petstore("serve", "--help");
    const set = all("ENV").flatMap((text) => /^PETSTORE_\w+/.exec(text) ?? []);
    expect(set.length).toBeGreaterThan(0);
    for (const variable of set) expect(out).toContain(variable);
  });
});

/** Only in CI, and on a Node as new as the image's. Otherwise, the command that other tests have bundled is in it. */
const isPerformed = sized(0, 1, 1) === 1 && Number(process.versions.node.split(".")[0]) >= 24;
const isRoot = process.getuid?.() === 0;

/** There is no Docker here: folders stand for the roots of the stages. */
describe(`a container${isPerformed ? "" : " with the bundled command"}`, () => {
  const bundled = useBuiltPetstore();
  let place = "";
  let image: Image;
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "petstore-container-"));
    chmodSync(place, 0o755);
    if (!isPerformed) placeBundled(dirname(bundled()), join(place, "build/app"));
    image = build(place);
    execFileSync("chmod", ["-R", "a-w", join(image.folder, "app")]);
    chmodSync(image.folder, 0o555);
  }, 1_200_000);
  afterAll(() => {
    if (place === "") return;
    execFileSync("chmod", ["-R", "u+w", place]);
    rmSync(place, { recursive: true });
  });

  /** How the image runs a program, with these variables in addition. */
  const optionsFor = (variables: Readonly<Record<string, string>>) => ({
    cwd: join(image.folder, image.workdir),
    env: { ...image.environment, ...variables },
    ...(canSwitchTo(image) ? image.user : {}),
  });

  /** Starts a container, and resolves when it listens. Its health check has failed before. */
  const start = async () => {
    const port = String(await freePort());
    const options = optionsFor({ PETSTORE_PORT: port });
    const [checker = "", ...checks] = image.healthcheck;
    const check = () => spawnSync(checker, checks, options).status;
    expect(check()).toBe(1);
    const [program = "", ...args] = image.command;
    const server = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(server, "exit");
    onTestFinished(async () => {
      server.kill("SIGKILL");
      await ended;
      for (const file of readdirSync(options.cwd)) rmSync(join(options.cwd, file));
    });
    let output = "";
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const url = `http://127.0.0.1:${port}/v1`;
    await expect.poll(() => output).toContain(`petstore listens on ${url}`);
    /** Runs the image's command with other arguments, as `docker exec` does. */
    const run = (...others: readonly string[]): string =>
      execFileSync(program, others, { ...options, encoding: "utf8" });
    return { url, server, ended, output: () => output, petstore: run, check };
  };

  it.runIf(isPerformed)("holds the command with two drivers, and nothing compiled", () => {
    const modules = readdirSync(join(image.folder, "app/node_modules"));
    expect(modules).toEqual(expect.arrayContaining(["@petstore", "better-sqlite3-13", "pg"]));
    expect(modules.filter((name) => /gyp|prebuild|esbuild|typescript/.test(name))).toEqual([]);
    const driver = join(image.folder, "app/node_modules/better-sqlite3-13");
    expect(readdirSync(driver)).not.toContain("build");
  });

  it("is healthy while it can serve", async () => {
    const { check } = await start();
    expect(check()).toBe(0);
    const database = join(image.folder, "data/pets.db");
    if (isRoot && canSwitchTo(image)) expect(statSync(database).uid).toBe(image.user.uid);
    rmSync(database);
    await expect.poll(check).toBe(1);
  });

  it("responds to a request that is half sent when SIGTERM ends it", async () => {
    const { url, server, ended, output, petstore } = await start();
    const { secret } = JSON.parse(petstore("keys", "issue", "--plan", "free", "--json")) as {
      secret: string;
    };
    const body = '{"name":"Rex","categoryId":1}';
    const socket = await openSocket(url);
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    await expect.poll(() => petstore("keys", "list")).toContain("1/1000");
    server.kill("SIGTERM");
    await expect.poll(output).toContain("received SIGTERM");
    socket.write(body.slice(9));
    let response = "";
    for await (const chunk of socket.setEncoding("utf8")) response += String(chunk);
    expect(response).toMatch(/^HTTP\/1\.1 201 [^]*\r\nConnection: close\r\n/);
    expect(await ended).toEqual([0, null]);
    expect(readdirSync(join(image.folder, "data"))).toEqual(["pets.db"]);
  });
});

/** Fills the folder of the image's packages with the bundled command in place of the packed one. */
function placeBundled(bundle: string, app: string): void {
  const cli = join(app, "node_modules/@petstore/cli");
  for (const file of ["package.json", "bin/petstore.js"]) {
    cpSync(join(root, "packages/cli", file), join(cli, file));
  }
  cpSync(bundle, join(cli, "dist"), { recursive: true, verbatimSymlinks: true });
  chmodSync(join(cli, "bin/petstore.js"), 0o755);
  mkdirSync(join(app, "node_modules/.bin"));
  symlinkSync("../@petstore/cli/bin/petstore.js", join(app, "node_modules/.bin/petstore"));
}

/** Only root can run a program as another user, unless the other one cannot reach Node or the driver. */
function canSwitchTo({ user }: Image): boolean {
  const paths = [process.execPath, join(root, "node_modules")];
  return (
    isRoot && paths.every((path) => spawnSync("ls", [path], { ...user, cwd: "/" }).status === 0)
  );
}
