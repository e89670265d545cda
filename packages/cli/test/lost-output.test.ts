import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../../../scripts/ports.js";
import { hurried, startCommand, startProgram, useBuiltPetstore } from "./support/built-petstore.js";
import { startAny, textOf, workersOf } from "./support/built-petstore.js";
import { databaseWithKey, newDatabase, petsIn, REX, skipWithout } from "./support/command.js";
import { petstore, withDatabase, writableTo } from "./support/command.js";
import { inCi } from "../../../scripts/test-size.js";
import { createErrorLog, createRequestLog } from "../src/serve/log.js";
import { createTerminal } from "../src/terminal.js";

const FULL = "/dev/full";
const program = useBuiltPetstore();

/** A server with these outputs, which are lost, on a port that it cannot report. */
async function startServer(outputs: readonly (number | "pipe" | "ignore")[], ...args: string[]) {
  const port = await freePort();
  const serve = [program(), "serve", "--log", "--port", String(port), ...args];
  const stdio = ["ignore" as const, ...outputs];
  const server = spawn(process.execPath, [...hurried(20), ...serve], { stdio });
  onTestFinished(() => void server.kill("SIGKILL"));
  const ended = once(server, "exit");
  const health = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status, String);
  await expect.poll(health).toBe(200);
  const end = async (): Promise<unknown> => {
    server.kill("SIGTERM");
    return (await ended)[0];
  };
  return { port, server, health, end };
}

describe.runIf(inCi && existsSync(FULL))("with outputs that are full", () => {
  it("a server keeps serving, issues no key that is lost, replaces its workers, one after the other, and shuts down", async () => {
    const database = newDatabase();
    const args = ["--database", database, "--workers", "2", "--first-key"];
    const full = openSync(FULL, "w");
    onTestFinished(() => closeSync(full));
    const { server, health, end } = await startServer([full, full], ...args);
    for (let count = 0; count < 2; count += 1) {
      await expect.poll(() => workersOf(server)).toHaveLength(2);
      const [worker = -1] = workersOf(server);
      process.kill(worker, "SIGKILL");
      await expect.poll(() => workersOf(server)).not.toContain(worker);
    }
    await expect.poll(health).toBe(200);
    expect([await Promise.all([health(), health()]), await end()]).toEqual([[200, 200], 0]);
    expect((await petstore("keys", "list", "--json", "--database", database)).out).toBe("[]");
  });

  it("keys issue, keys export and help fail with the cause", async () => {
    const { database } = await databaseWithKey();
    const here = ["--database", database];
    for (const [lost, ...args] of [
      ["done, but the secret", "keys", "issue", "--plan", "free", "--json", ...here],
      ["done, but the result", "keys", "export", ...here],
      ["the output", "keys", "--help"],
    ]) {
      const command = ["-c", `"$@" > ${FULL}`, "sh", process.execPath, program(), ...args];
      const { status, stderr } = spawnSync("sh", command, { encoding: "utf8" });
      const problem = `petstore: ${lost} could not be printed: the disk is full\n`;
      expect([status, stderr]).toEqual([1, problem]);
    }
    const serve = `${program()} serve --first-key --port 0 --database :memory: > ${FULL}`;
    const { output } = startAny(["sh", "-c", `exec ${process.execPath} ${serve}`]);
    const lost = "petstore: the first key could not be printed: the disk is full\n";
    await expect.poll(output).toBe(lost);
  });
});

it("a closed pipe ends every listing quietly, and fails a command whose secret nobody has read", async () => {
  const { database } = await databaseWithKey();
  const ended = async (...args: readonly string[]) => {
    const run = startCommand(...args);
    run.child.stdout.destroy();
    return [await run.ended, run.output()];
  };
  for (const each of ["keys list", "keys export", "pets export", "migrate --print", "keys --help"])
    expect(await ended(...each.split(" "), "--database", database), each).toEqual([0, ""]);
  expect(await ended("keys", "issue", "--plan", "free", "--database", database)).toEqual([
    1,
    "petstore: done, but the secret could not be printed: the reader has closed the pipe\n",
  ]);
});

it.runIf(inCi)("a server whose log is not read keeps serving, and shuts down", async () => {
  const { port, health, end } = await startServer(["pipe", "ignore"], "--database", ":memory:");
  await sendMany(port, 2_000, 1);
  expect([await health(), await end()]).toEqual([200, 0]);
});

/** Sends this many requests over each of some connections. A worker may get all, and lets 4,096 wait. */
async function sendMany(port: number, count: number, connections = 16): Promise<void> {
  const send = async () => {
    const socket = connect(port, "127.0.0.1");
    socket.end("GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count));
    expect((await text(socket)).match(/HTTP\/1\.1 4/g)).toHaveLength(count);
  };
  await Promise.all(Array.from({ length: connections }, send));
}

it.runIf(inCi)("workers whose log is read late write only whole lines of JSON to it", async () => {
  const args = ["--workers", "2", "--first-key", "--database", newDatabase()];
  const { port, server, end } = await startServer(["pipe", "ignore"], ...args);
  await sendMany(port, 250);
  let log = "";
  server.stdout?.setEncoding("utf8").on("data", (part: string) => (log += part));
  await expect.poll(() => log.match(/"operation":"listPets"/g)?.length).toBe(4_000);
  expect(await end()).toBe(0);
  expect(linesOf(log)).toHaveLength(log.match(/"msg":"request"/g)?.length ?? 0);
});

it("why a first line was not written is known also if the next one fails for another reason", async () => {
  const closed = Object.assign(new Error("closed"), { code: "EPIPE" });
  const stdout = writableTo((_, done) => done(closed));
  const terminal = createTerminal({ stdout, stderr: stdout });
  for (const mustBeRead of [false, false, true]) {
    terminal.out("a line");
    expect((await terminal.written(mustBeRead)) === undefined).toBe(!mustBeRead);
  }
});

it("errors of one kind are reported at once, then counted every ten seconds, and at the end once", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createErrorLog((line) => lines.push(line));
  const after = (...reported: readonly string[]) => {
    expect(lines.splice(0)).toEqual(reported);
    vi.advanceTimersByTime(10_000);
  };
  const add = (...errors: readonly string[]) => {
    for (const message of errors) log.add({ message });
  };
  add("a", "a", "b", "a");
  after("a", "b");
  add("a");
  after("a (2 more)");
  after("a (1 more)");
  add("a", "a");
  log.end();
  after("a", "a (1 more)");
  after();
});

it("a log loses the lines that its reader leaves beyond 16 MiB, and says how many", async () => {
  let [isReading, goOn] = [false, (): void => undefined];
  const parts: Buffer[] = [];
  const stdout = writableTo((part, done) => {
    parts.push(part);
    if (isReading) done();
    else goOn = done;
  });
  const problems: string[] = [];
  const { add, end } = createRequestLog(stdout, { now: () => 7 }, (each) => problems.push(each));
  const report = { requestId: "x".repeat(1_000), milliseconds: 1, keyId: undefined };
  const sent = { ...report, operation: undefined, status: 200, code: undefined };
  for (let count = 0; count < 20_000; count += 1) add(sent);
  const lost = problems.length;
  expect([...new Set(problems)]).toEqual(["a line of the log was lost: its reader is too slow"]);
  end();
  isReading = true;
  goOn();
  await setImmediate();
  end();
  const [first = "", told, notice = "", ...more] = String(Buffer.concat(parts)).trim().split("\n");
  const msg = "lines of the log were lost";
  expect([told, JSON.parse(notice)]).toEqual([notice, { level: 40, time: 7, lost, msg }]);
  expect(more).toHaveLength(19_999 - lost);
  expect((20_000 - lost) * (first.length + 1)).toBeCloseTo(16_777_216, -4);
});

const hasBash = spawnSync("bash", ["-c", "ulimit -f 1000"]).status === 0;

async function startLogging(to: string, log: string, limit = "unlimited") {
  const script = `ulimit -f ${limit}; exec "$@" ${to} ${log}`;
  const serve = ["serve", "--port", "0", "--log", "--database", ":memory:"];
  const command = ["bash", "-c", script, "bash", process.execPath, program(), ...serve];
  const server = await startProgram(command);
  return { ...server, port: Number(new URL(server.url).port) };
}

const linesOf = (log: string | Buffer) =>
  String(log)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

it.skipIf(!hasBash).each([">>", ">"])(
  "a log that a full disk cuts (%s) has whole lines, and says how many were lost when there is room",
  async (to) => {
    const log = join(dirname(newDatabase()), "log");
    const server = await startLogging(to, log, "4");
    await sendMany(server.port, 10);
    const lost = 160 - linesOf(readFileSync(log)).length;
    expect(lost).toBeLessThan(150);
    if (to === ">>") {
      truncateSync(log, 0);
      await fetch(`${server.url}/pets`);
      const told = [{ level: 40, lost }, { msg: "request" }];
      await expect.poll(() => linesOf(readFileSync(log))).toMatchObject(told);
    }
    expect(await server.end()).toBe(0);
    const problem = "petstore: a line of the log was lost: EFBIG: file too large, write";
    expect(server.errors()).toContain(`${problem}\n`);
    expect(server.errors()).toContain(`${problem} (${lost - 1} more)\n`);
  },
);

it.skipIf(!hasBash).each([
  ["migrate --print", 4],
  ["pets export", 40],
  ["serve --help", 1],
])("%s fails if a full disk takes only a part of its result", async (command, blocks) => {
  const { database, read } = withDatabase();
  await read(`{"name":"${"x".repeat(600)}","categoryId":1}\n`.repeat(100), "pets", "import", "-");
  const script = `ulimit -f ${blocks}; exec "$@" --database "$0" > "$0.out"`;
  const args = ["-c", script, database, process.execPath, program(), ...command.split(" ")];
  const { status, stderr } = spawnSync("bash", args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining("file too large")]);
});

const LOGROTATE = "/usr/sbin/logrotate";

it.runIf(inCi)("logrotate, as the documents configure it, loses no line", async ({ skip }) => {
  if (process.env["CI"] === undefined) skipWithout(LOGROTATE, skip, "logrotate");
  expect(existsSync(LOGROTATE), "install logrotate: .ci/run does").toBe(true);
  const log = join(dirname(newDatabase()), "log");
  const [, config = ""] = /^```logrotate\n([^`]*)/m.exec(textOf("docs/operating.md")) ?? [];
  writeFileSync(`${log}.conf`, config.replace("/var/log/petstore.log", log), { mode: 0o644 });
  const { port } = await startLogging(">>", log);
  for (let round = 0; round < 3; round += 1) {
    await sendMany(port, 2);
    await expect.poll(() => readFileSync(log, "utf8").split("\n")).toHaveLength(33);
    expect(linesOf(readFileSync(log))).toHaveLength(32);
    execFileSync(LOGROTATE, ["--force", "--state", `${log}.state`, `${log}.conf`]);
  }
  expect(linesOf(readFileSync(`${log}.1`))).toHaveLength(32);
  for (const old of [2, 3])
    expect(linesOf(gunzipSync(readFileSync(`${log}.${old}.gz`)))).toHaveLength(32);
});

it("an import whose outputs are closed imports every valid line", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "pets.ndjson");
  writeFileSync(file, `bad\n${REX.repeat(9)}`.repeat(500));
  const { child, ended } = startCommand("pets", "import", file, "--database", database);
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await ended).toBe(1);
  expect(await petsIn(database)).toHaveLength(4_500);
});

it.skipIf(!hasBash)("writes a rejected line completely or not at all", () => {
  const database = newDatabase();
  const rejects = join(dirname(database), "rejects.csv");
  const long = `Rex,${"x".repeat(600_000)}`;
  const input = join(dirname(database), "pets.csv");
  writeFileSync(input, ["name,categoryId", "Rex,1", "Rex,x", long, long, ""].join("\n"));
  const args = ["pets", "import", input, "--rejects", rejects, "--database", database];
  const limited = ["-c", 'ulimit -f 1000; exec "$@"', "bash", process.execPath, program()];
  const { status, stderr } = spawnSync("bash", [...limited, ...args], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr.slice(-300)).toMatch(/cannot write rejected lines to .*\n$/);
  const whole = ["name,categoryId", "Rex,x", long, ""].join("\n");
  expect(readFileSync(rejects, "utf8") === whole).toBe(true);
  appendFileSync(rejects, long);
  spawnSync("bash", [...limited, ...args, "--from-line", "2"]);
  expect(readdirSync(dirname(rejects)).filter((name) => name.includes("unfinished"))).toEqual([]);
});
