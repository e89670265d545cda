import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { build } from "esbuild";
import { beforeAll, beforeEach, expect, inject, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { loadDriver } from "../src/database/driver.js";

const PROGRAM = `
import { openSqliteStorage } from "@petstore/storage-sqlite";
const print = (result) => console.log(result.isOk() ? "opened" : result.error.code + ": " + result.error.message);
openSqliteStorage({ filename: ":memory:" }).then(print);
`;

const folder = mkdtempSync(join(inject("sharedFolder"), "driver-"));
const modules = join(folder, "node_modules");
beforeAll(async () => {
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  const source = fileURLToPath(new URL("../../$1/src", import.meta.url));
  const alias = Object.fromEntries(
    ["core", "storage-sqlite"].map((name) => [`@petstore/${name}`, source.replace("$1", name)]),
  );
  for (const [format, extension, define] of [
    ["cjs", ".cjs", {}],
    ["esm", ".mjs", {}],
    ["esm", ".fixed.mjs", { "import.meta.url": JSON.stringify(import.meta.url) }],
  ] as const)
    await build({
      ...{ entryPoints: [join(folder, "program.ts")], outdir: folder, bundle: true },
      ...{ platform: "node", logLevel: "error", outExtension: { ".js": extension } },
      ...{ format, alias, define },
    });
});
beforeEach(() => {
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
});

function run(extension: string): string {
  const program = join(folder, `program.${extension}`);
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8" });
  return `${stdout}${stderr}`.trim();
}

const isNode20 = process.versions.node.startsWith("20.");
const driver = isNode20 ? "better-sqlite3" : "better-sqlite3-13";
const source = dirname(createRequire(import.meta.url).resolve(`${driver}/package.json`));
const INSTALL = `Run \`npm install better-sqlite3@${isNode20 ? 12 : 13}\` in the folder of the program`;
const COMPILER =
  ", with a C++ compiler if its binary cannot be downloaded; Node 22 and newer need no compiler";

function installScripts(version: number): void {
  const copy = join(modules, "better-sqlite3");
  cpSync(join(source, "lib"), join(copy, "lib"), { recursive: true });
  const manifest = { version: `${version}.0.0`, main: "lib/index.js" };
  writeFileSync(join(copy, "package.json"), JSON.stringify(manifest));
  if (!isNode20) return;
  const bindings = dirname(createRequire(source).resolve("bindings/package.json"));
  symlinkSync(bindings, join(modules, "bindings"));
}

const extensions = ["mjs", "cjs"].slice(0, sized(1, 2, 2));
it.each(extensions)("a bundle as .%s opens, or says how to install its driver", (extension) => {
  symlinkSync(source, join(modules, driver));
  expect(run(extension)).toBe("opened");
  rmSync(join(modules, driver));
  const missing = run(extension);
  expect(missing).toMatch(/^driver_unavailable: better-sqlite3 cannot be loaded: Cannot find/);
  expect(missing).toContain(`. ${INSTALL}${isNode20 ? COMPILER : ""}.`);
  installScripts(isNode20 ? 12 : 13);
  if (!isNode20) symlinkSync(source, join(modules, driver));
  const message = run(extension);
  expect(message).toMatch(/^driver_unavailable: better-sqlite3 cannot be loaded: /);
  expect(message).toContain(isNode20 ? `Run \`npm rebuild better-sqlite3\`` : INSTALL);
});

it.each(["mjs", "fixed.mjs"])("a bundle as .%s refuses the driver of another Node", (extension) => {
  installScripts(isNode20 ? 13 : 12);
  const other = isNode20 ? "13.0.0" : "12.0.0";
  const reason = `Version ${other} does not run on Node ${process.versions.node}.`;
  expect(run(extension)).toContain(`${reason} ${INSTALL}`);
});

it("writes the log back in a thread, also when a bundler renames what it uses and keeps names", async () => {
  const filename = join(folder, "thread.db");
  const storage = (await openSqliteStorage({ filename }))._unsafeUnwrap();
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../src/commit/checkpoint-thread.ts", import.meta.url))],
    ...{ write: false, format: "iife", globalName: "bundle", minify: true, keepNames: true },
  });
  const thread = String(runInNewContext(`${outputFiles[0]?.text ?? ""} bundle.THREAD`));
  const asInDeno = `require("node:worker_threads").parentPort.close = undefined;`;
  const { url: driver } = await loadDriver();
  const hasEnded = new Int32Array(new SharedArrayBuffer(4));
  for (const longLog of [0, 9_999]) {
    const workerData = { driver, filename, longLog, niceness: 0, hasEnded };
    const worker = new Worker(asInDeno + thread, { eval: true, workerData });
    const received: unknown[] = [];
    worker.on("message", (reply) => received.push(reply));
    for (const message of ["write back", "end"]) worker.postMessage(message);
    await once(worker, "exit");
    expect(received).toEqual(["ready", ...(longLog > 0 ? [] : ["written"]), "ended"]);
  }
  await storage.close();
});
