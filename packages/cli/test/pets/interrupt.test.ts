import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { newDatabase, petstore, petstoreReading } from "../support/command.js";

const program = useBuiltPetstore();

/** An import that waits for its input. */
interface Waiting {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: () => string;
  readonly ended: Promise<unknown>;
}

function startImport(file: string, database: string): Waiting {
  const args = ["pets", "import", file, "--database", database];
  const child = spawn(process.execPath, [program(), ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close").then(([code, signal]: unknown[]) => code ?? signal);
  return { child, output: () => output, ended };
}

describe("an import that waits for its input", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "stops at %s, and names the line to resume at",
    async (signal) => {
      const database = newDatabase();
      const { child, output, ended } = startImport("-", database);
      const rex = '{"name":"Rex","categoryId":1}\n';
      child.stdin.write(`${rex}${rex}bad\n${rex}${rex}`);
      await expect.poll(output).toContain("line 3");
      child.kill(signal);
      expect(await ended).toBe(1);
      expect(output()).toContain("imported 4 pets\n");
      expect(output()).toContain("it received a signal to stop. Everything before line 6 is done");
      const { out } = await petstore("pets", "export", "--database", database);
      expect(out.split("\n")).toHaveLength(4);
    },
  );

  it.skipIf(process.platform !== "linux")("stops also when the file has no end", async () => {
    const database = newDatabase();
    const { child, output, ended } = startImport("/dev/zero", database);
    await expect.poll(() => existsSync(database)).toBe(true);
    child.kill("SIGINT");
    expect(await ended).toBe(1);
    expect(output()).toContain("the import stopped: it received a signal to stop.\n");
  });

  it.skipIf(process.platform !== "linux")("waits for the first writer of a pipe", async () => {
    const database = newDatabase();
    const pipe = join(dirname(database), "pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const { output, ended } = startImport(pipe, database);
    // The shell waits for the reader.
    const write = ["-c", 'echo \'{"name":"Rex","categoryId":1}\' > "$0"', pipe];
    expect(spawnSync("sh", write, { timeout: 30_000 }).status).toBe(0);
    expect({ code: await ended, output: output() }).toEqual({
      code: 0,
      output: `petstore: new database ${database}\nimported 1 pet\n`,
    });
  });
});

const listeners = (): number => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");

it("no signal handler is left after an import or an export", async () => {
  const before = listeners();
  const database = newDatabase();
  const file = join(dirname(database), "pets.ndjson");
  const rex = '{"name":"Rex","categoryId":1}';
  await petstoreReading(rex, "pets", "import", "-", "--database", database);
  expect((await petstore("pets", "export", file, "--database", database)).code).toBe(0);
  expect(listeners()).toBe(before);
});

it("an import fails when its standard input is a directory", () => {
  const directory = openSync(tmpdir(), "r");
  const args = [program(), "pets", "import", "-", "--database", newDatabase()];
  const child = spawnSync(process.execPath, args, { stdio: [directory, "pipe", "pipe"] });
  closeSync(directory);
  expect({ code: child.status, error: child.stderr.toString() }).toEqual({
    code: 1,
    error: "petstore: cannot read standard input: it is a directory\n",
  });
});
