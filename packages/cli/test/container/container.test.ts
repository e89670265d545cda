import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, matchesGlob, relative } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { freePort, portOf } from "../../../../scripts/ports.js";
import { inCi } from "../../../../scripts/test-size.js";
import { root, startProgram, textOf } from "../support/built-petstore.js";
import { openSocket } from "../support/raw-client.js";

/** The instructions of the Dockerfile, such as `USER 1000`, each on one line. */
const instructions = textOf("Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter(Boolean)
  .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.replace(/^\S+ /, "") }));

/** The words of an instruction in the form that starts no shell. Throws if it has another one. */
const wordsOf = (text: string) => JSON.parse(text.slice(text.indexOf("["))) as readonly string[];

it("the Dockerfile uses the slim image of Node's LTS, another user than root and no shell, and installs nothing in the final stage", () => {
  const all = (name: string): readonly string[] =>
    instructions.filter((each) => each.name === name).map(({ text }) => text);
  expect(all("FROM")).toEqual(["node:24-slim AS build", "node:24-slim"]);
  expect(all("USER")).toEqual(["1000:1000"]);
  for (const text of ["ENTRYPOINT", "CMD", "HEALTHCHECK"].flatMap(all))
    expect(wordsOf(text)).not.toContain("sh");
  const final = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  expect(final.filter(({ name }) => name === "RUN")).toHaveLength(1);
  expect(JSON.stringify(final)).not.toMatch(/npm|apt-get|curl/);
});

/** Only in CI, and on a Node as new as the image's: it installs everything. */
const isPerformed = inCi && Number(process.versions.node.split(".")[0]) >= 24;
const isRoot = process.getuid?.() === 0;

/** There is no Docker here: folders stand for the roots of the stages. */
describe.runIf(isPerformed)("a container", () => {
  let image: ReturnType<typeof build>;
  beforeAll(() => {
    const place = mkdtempSync(join(inject("sharedFolder"), "container-"));
    chmodSync(place, 0o755);
    image = build(place);
    execFileSync("chmod", ["-R", "a-w", join(image.folder, "app")]);
    chmodSync(image.folder, 0o555);
    return () => void execFileSync("chmod", ["-R", "u+w", place]);
  }, 1_200_000);

  it("holds the command with two drivers, and nothing compiled", () => {
    const modules = readdirSync(join(image.folder, "app/node_modules"));
    expect(modules).toEqual(expect.arrayContaining(["@petstore", "better-sqlite3-13", "pg"]));
    expect(modules.filter((name) => /gyp|prebuild|esbuild|typescript/.test(name))).toEqual([]);
    const driver = join(image.folder, "app/node_modules/better-sqlite3-13");
    expect(readdirSync(driver)).not.toContain("build");
  });

  it("is healthy while it can serve, and responds to a request that is half sent when SIGTERM ends it", async () => {
    const port = String(await freePort());
    const node = spawnSync("ls", [process.execPath], { ...image.user, cwd: "/" });
    const canSwitch = isRoot && node.status === 0;
    const options = {
      cwd: join(image.folder, image.workdir),
      env: { ...image.environment, PETSTORE_PORT: port },
      ...(canSwitch ? image.user : {}),
    };
    const [checker = "", ...checks] = image.healthcheck;
    const check = async (of: string) => {
      const env = { ...options.env, PETSTORE_PORT: of };
      return (await once(spawn(checker, checks, { ...options, env }), "exit"))[0] as number;
    };
    const unready = createServer(
      ({ url }, response) => void response.writeHead(url === "/readyz" ? 503 : 200).end(),
    );
    onTestFinished(() => void unready.close());
    expect([await check(port), await check(String(await portOf(unready)))]).toEqual([1, 1]);
    const { url, output, end } = await startProgram(image.command, options);
    expect([url, await check(port)]).toEqual([`http://127.0.0.1:${port}/v1`, 0]);
    const { uid } = statSync(join(image.folder, "data/pets.db"));
    if (canSwitch) expect(uid).toBe(image.user.uid);

    const issue = ["keys", "issue", "--plan", "free", "--json"];
    const issued = execFileSync(image.command[0] ?? "", issue, { ...options, encoding: "utf8" });
    const { secret } = JSON.parse(issued) as { secret: string };
    const body = '{"name":"Rex","categoryId":1}';
    const socket = await openSocket(url);
    const headers = ["Host: x", `Authorization: Bearer ${secret}`, "Expect: 100-continue"];
    const head = ["POST /v1/pets HTTP/1.1", ...headers, `Content-Length: ${body.length}`];
    socket.setEncoding("utf8").write(`${head.join("\r\n")}\r\n\r\n`);
    expect(await once(socket, "data")).toEqual(["HTTP/1.1 100 Continue\r\n\r\n"]);
    const ended = end("SIGTERM");
    await expect.poll(output).toContain("received SIGTERM");
    socket.write(body);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 [^]*\r\nConnection: close\r\n/);
    expect([await ended, readdirSync(join(image.folder, "data"))]).toEqual([0, ["pets.db"]]);
  });
});

/** Performs the Dockerfile, with a folder for each stage. Returns what a container of the last one starts with. */
function build(place: string) {
  const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`;
  const start = (folder: string) => ({
    ...{ folder, workdir: "/", user: { uid: 0, gid: 0 } },
    environment: { PATH } as NodeJS.ProcessEnv,
    command: wordsOf("[]"),
    healthcheck: wordsOf("[]"),
  });
  let image = start(place);
  /** Puts the folders that a text names into the one that stands for `/`. */
  const within = (text: string): string =>
    text.replace(/(?<![\w.])\/(?:source|app|data)\b/g, `${image.folder}$&`);
  const perform: Readonly<Record<string, (text: string) => void>> = {
    FROM: (text) => {
      image = start(join(place, / AS (\w+)$/.exec(text)?.[1] ?? "final"));
      mkdirSync(image.folder, { recursive: true });
    },
    WORKDIR: (text) => {
      image.workdir = text;
      mkdirSync(within(text), { recursive: true });
    },
    ENV: (text) => {
      const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
      image.environment[name] = within(value).replace("$PATH", image.environment["PATH"] ?? "");
    },
    COPY: (text) => {
      const [, stage = "", from = "", to = ""] = /^--from=(\w+) (\S+) (\S+)$/.exec(text) ?? [];
      if (stage) execFileSync("cp", ["-a", join(place, stage, from), within(to)]);
      else if (text !== ". .") expect.fail(`It is not known how to copy ${text}.`);
      else cpSync(root, within(image.workdir), { recursive: true, filter: isCopied });
    },
    RUN: (text) => {
      const owned = isRoot ? text : text.replace(/&& chown \S+ \S+/, "");
      const env = { ...process.env, ...image.environment };
      const cwd = within(image.workdir);
      const script = ["-c", within(owned)];
      execFileSync("sh", script, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
    },
    USER: (text) => {
      const [uid = NaN, gid = NaN] = text.split(":").map(Number);
      image.user = { uid, gid };
    },
    ENTRYPOINT: (text) => (image.command = wordsOf(text)),
    CMD: (text) => (image.command = [...image.command, ...wordsOf(text)]),
    HEALTHCHECK: (text) => (image.healthcheck = wordsOf(text)),
    VOLUME: () => undefined,
    EXPOSE: () => undefined,
  };
  for (const { name, text } of instructions)
    (perform[name] ?? expect.fail(`It is not known how to perform ${name}.`))(text);
  return image;
}

/** Whether Docker copies a path: of the lines of .dockerignore that fit it or a folder above it, the last counts. */
function isCopied(path: string): boolean {
  const patterns = textOf(".dockerignore").match(/^[^#\n].*/gm) ?? [];
  const names = relative(root, path).split("/");
  const above = names.map((_, index) => names.slice(0, index + 1).join("/"));
  const fits = (pattern: string) =>
    above.some((each) => matchesGlob(each, pattern.replace("!", "")));
  return names[0] === "" || Boolean(patterns.findLast(fits)?.startsWith("!"));
}
