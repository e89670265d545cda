import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { portOf } from "./ports.js";

/** Creates a repository whose build only copies its one source. */
function createRepository() {
  const root = mkdtempSync(join(tmpdir(), "petstore-start-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  /** @type {(name: string, text: string) => void} */
  const write = (name, text) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const name of ["start.js", "exclusively.js", "packages.js", "run.js"])
    cpSync(fileURLToPath(new URL(name, import.meta.url)), join(root, "scripts", name));
  mkdirSync(join(root, "node_modules"));
  write("package.json", '{ "type": "module" }');
  write("packages/cli/package.json", '{ "type": "module" }');
  write("packages/.DS_Store", "");
  write("packages/notes/todo.txt", "");
  write("packages/cli/bin/petstore.js", 'await import("../dist/bin.js");');
  write("packages/cli/src/bin.ts", 'console.log("one");');
  // As the real build, it installs first.
  const build =
    "touch node_modules/.stamp && mkdir -p packages/cli/dist && cp packages/cli/src/bin.ts packages/cli/dist/bin.js";
  write("bin/npm", `#!/bin/sh\n${build}\n`);
  chmodSync(join(root, "bin/npm"), 0o755);
  /** Starts it on this port, from another folder, and returns what it prints. */
  const start = (PORT = "0") => {
    const env = { PATH: `${join(root, "bin")}:${process.env["PATH"] ?? ""}`, PORT };
    const command = `"${process.execPath}" "${join(root, "scripts/start.js")}" serve 2>&1`;
    return spawnSync(command, { cwd: tmpdir(), env, shell: true, encoding: "utf8" }).stdout;
  };
  return { write, start };
}

it("installs and builds, and says so, only when the sources or the build have changed", () => {
  const { write, start } = createRepository();
  expect(start()).toMatch(/^Installing and building….*Node 20\.\none\n$/);
  expect(start()).toBe("one\n");
  write("packages/cli/src/bin.ts", 'console.log("two");');
  expect(start()).toMatch(/^Building….*\ntwo\n$/);
  write("packages/cli/dist/bin.js", "");
  expect(start()).toMatch(/^Building….*\ntwo\n$/);
  expect(start()).toBe("two\n");
});

it("reports a port that it cannot listen on, before it builds", async () => {
  const { start } = createRepository();
  expect(start("x")).toMatch(/^petstore: PORT is 'x'. It must be a whole number.*\n$/);
  const other = createServer();
  const port = await portOf(other);
  expect(start(String(port))).toBe(
    `petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`,
  );
  other.close();
});
