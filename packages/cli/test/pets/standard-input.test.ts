import { spawn } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { useBuiltPetstore } from "../support/built-petstore.js";
import { newDatabase } from "../support/command.js";

const program = useBuiltPetstore();

const NAMES = Array.from({ length: 100 }, (_, index) => `🐈\u2028${index}`);
const FILES = {
  ndjson: NAMES.map((name) => JSON.stringify({ name, categoryId: 1 })),
  csv: ["\uFEFFname,categoryId", ...NAMES.map((name) => `"${name}\r\n""",1`)],
};

it.each(["ndjson", "csv"] as const)(
  "a pipe of %s is imported whole, however it is cut",
  async (format) => {
    const args = ["pets", "import", "-", "--format", format, "--database", newDatabase()];
    // The program finds its driver behind a link, as pnpm installs it. A test runner may set NODE_PATH.
    const env = { ...process.env, NODE_PATH: "" };
    const child = spawn(process.execPath, [program(), ...args], { env });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const bytes = Buffer.from(FILES[format].join("\r\n"));
    for (let start = 0; start < bytes.length; start += 61) {
      child.stdin.write(bytes.subarray(start, start + 61));
      await setImmediate();
    }
    child.stdin.end();
    const [out, error] = await output;
    expect({ out, error }).toEqual({
      out: "imported 100 pets\n",
      error: expect.stringMatching(/^petstore: new database [^\n]*\n$/) as string,
    });
  },
);
