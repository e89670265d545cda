import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const scripts = fileURLToPath(new URL(".", import.meta.url));

/** Creates a repository whose build only copies its one source. */
function createRepository() {
  const root = mkdtempSync(join(tmpdir(), "petstore-start-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  /** @type {(name: string, text: string) => void} */
  const write = (name, text) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const name of ["start.js", "run.js"]) cpSync(scripts + name, join(root, "scripts", name));
  mkdirSync(join(root, "node_modules"));
  write("package.json", '{ "type": "module" }');
  write("packages/cli/bin/petstore.js", 'await import("../dist/bin.js");');
  write("packages/cli/src/bin.ts", 'console.log("one");');
  // As the real build, it installs first.
  const build =
    "touch node_modules/.stamp && mkdir -p packages/cli/dist && cp packages/cli/src/bin.ts packages/cli/dist/bin.js";
  write("bin/npm", `#!/bin/sh\n${build}\n`);
  chmodSync(join(root, "bin/npm"), 0o755);
  /** @type {(env: NodeJS.ProcessEnv) => Promise<string>} */
  const start = async (env) => {
    const path = `${join(root, "bin")}:${process.env["PATH"] ?? ""}`;
    const args = [join(root, "scripts/start.js"), "serve"];
    const child = spawn(process.execPath, args, { cwd: root, env: { PATH: path, ...env } });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (output += String(text)));
    }
    await once(child, "close");
    return output;
  };
  return { write, start };
}

it("installs and builds, and says so, only when the sources or the build have changed", async () => {
  const { write, start } = createRepository();
  const free = { PORT: "0" };
  expect(await start(free)).toMatch(/^Installing and building….*Node 20\.\none\n$/);
  expect(await start(free)).toBe("one\n");
  write("packages/cli/src/bin.ts", 'console.log("two");');
  expect(await start(free)).toMatch(/^Building….*\ntwo\n$/);
  write("packages/cli/dist/bin.js", "");
  expect(await start(free)).toMatch(/^Building….*\ntwo\n$/);
  expect(await start(free)).toBe("two\n");
});

it("reports a port that it cannot listen on, before it builds", async () => {
  const { start } = createRepository();
  expect(await start({ PORT: "x" })).toMatch(
    /^petstore: PORT is 'x'. It must be a whole number.*\n$/,
  );
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = String(typeof address === "object" ? address?.port : address);
  expect(await start({ PORT: port })).toBe(
    `petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`,
  );
  other.close();
});
