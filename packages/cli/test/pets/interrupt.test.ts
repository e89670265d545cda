import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { newDatabase, petstore } from "../support/command.js";

const program = useBuiltPetstore();

const REX = '{"name":"Rex","categoryId":1}\n';

/** Starts an import that waits for its input. */
function startImport(file: string, database: string) {
  const args = ["pets", "import", file, "--database", database];
  // The program finds its driver behind a link, as pnpm installs it. A test runner may set NODE_PATH.
  const env = { ...process.env, NODE_PATH: "" };
  const child = spawn(process.execPath, [program(), ...args], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close").then(([code, signal]: unknown[]) => code ?? signal);
  return { child, output: () => output, ended };
}

it("an import stops at a signal, and names the line to resume at", async () => {
  const database = newDatabase();
  const { child, output, ended } = startImport("-", database);
  child.stdin.write(`${REX}${REX}bad\n${REX}${REX}`);
  await expect.poll(output).toContain("line 3");
  child.kill("SIGHUP");
  expect(await ended).toBe(1);
  expect(output()).toContain("imported 4 pets\n");
  expect(output()).toContain("it received a signal to stop. Everything before line 6 is done");
  const { out } = await petstore("pets", "export", "--database", database);
  expect(out.split("\n")).toHaveLength(4);
});

const isLinux = process.platform === "linux";

it.skipIf(!isLinux)("an import of a file that has no end stops, too", async () => {
  const database = newDatabase();
  const { child, output, ended } = startImport("/dev/zero", database);
  await expect.poll(() => existsSync(database)).toBe(true);
  child.kill("SIGINT");
  expect(await ended).toBe(1);
  expect(output()).toContain("the import stopped: it received a signal to stop.\n");
});

it.skipIf(!isLinux)("an import waits for the first writer of a pipe", async () => {
  const database = newDatabase();
  const pipe = join(dirname(database), "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  const { output, ended } = startImport(pipe, database);
  // The shell waits for the reader.
  const write = ["-c", 'echo "$1" > "$0"', pipe, REX];
  expect(spawnSync("sh", write, { timeout: 30_000 }).status).toBe(0);
  expect(await ended).toBe(0);
  expect(output()).toBe(`petstore: new database ${database}\nimported 1 pet\n`);
});

it("an import fails when its standard input is a directory", () => {
  const directory = openSync(tmpdir(), "r");
  const args = [program(), "pets", "import", "-", "--database", newDatabase()];
  const child = spawnSync(process.execPath, args, { stdio: [directory, "pipe", "pipe"] });
  closeSync(directory);
  expect(child.status).toBe(1);
  expect(child.stderr.toString()).toBe("petstore: cannot read standard input: it is a directory\n");
});
