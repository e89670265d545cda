import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFolder, type TemporaryFolder } from "./temporary-folder.js";

const PROGRAM = `
import { openSqliteStorage } from "@petstore/storage-sqlite";
const print = (result) => console.log(result.isOk() ? "opened" : result.error.code + ": " + result.error.message);
openSqliteStorage({ filename: ":memory:" }).then(print);
`;

let folder: TemporaryFolder;
let modules: string;
beforeAll(async () => {
  folder = createFolder();
  modules = folder.path("node_modules");
  writeFileSync(folder.path("program.ts"), PROGRAM);
  const source = fileURLToPath(new URL("../../$1/src/index.ts", import.meta.url));
  await build({
    entry: [folder.path("program.ts")],
    outDir: folder.path("."),
    format: "cjs",
    outExtension: () => ({ js: ".cjs" }),
    config: false,
    silent: true,
    noExternal: [/./],
    esbuildOptions: (options) => {
      options.alias = Object.fromEntries(
        ["core", "storage-sqlite"].map((name) => [`@petstore/${name}`, source.replace("$1", name)]),
      );
      options.logLevel = "error";
    },
  });
});
afterAll(() => folder.remove());
beforeEach(() => {
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
});

/** What the bundle prints. */
function run(): string {
  const { stdout, stderr } = spawnSync(process.execPath, [folder.path("program.cjs")], {
    encoding: "utf8",
  });
  return `${stdout}${stderr}`.trim();
}

const { resolve } = createRequire(import.meta.url);
const driver = dirname(resolve("better-sqlite3/package.json"));

/** Installs the driver of Node 20 without its compiled part. */
function installScripts(): void {
  const bindings = dirname(createRequire(driver).resolve("bindings/package.json"));
  const uri = dirname(createRequire(bindings).resolve("file-uri-to-path/package.json"));
  for (const part of ["lib", "package.json"]) {
    cpSync(join(driver, part), join(modules, "better-sqlite3", part), { recursive: true });
  }
  symlinkSync(bindings, join(modules, "bindings"));
  symlinkSync(uri, join(modules, "file-uri-to-path"));
}

describe("a CommonJS bundle", () => {
  const CURE =
    "Run `npm rebuild better-sqlite3`; with pnpm, first allow its build script with `pnpm approve-builds`.";

  it("opens a storage when the driver is installed beside it", () => {
    for (const name of ["better-sqlite3", "better-sqlite3-13"]) {
      symlinkSync(join(driver, "..", name), join(modules, name));
    }
    expect(run()).toBe("opened");
  });

  it("gets driver_unavailable when the driver is not installed", () => {
    expect(run()).toMatch(
      /^driver_unavailable: better-sqlite3 cannot be loaded: Cannot find package .* Run `npm install better-sqlite3` in the folder of the program\.$/,
    );
  });

  it("gets driver_unavailable when its compiled part is missing", () => {
    installScripts();
    const reason = "Could not locate the bindings file.";
    expect(run()).toBe(`driver_unavailable: better-sqlite3 cannot be loaded: ${reason} ${CURE}`);
  });

  it("gets driver_unavailable when its compiled part is for another Node or machine", () => {
    installScripts();
    mkdirSync(join(modules, "better-sqlite3/build/Release"), { recursive: true });
    writeFileSync(join(modules, "better-sqlite3/build/Release/better_sqlite3.node"), "other");
    expect(run()).toMatch(/^driver_unavailable: .*better_sqlite3\.node.*approve-builds`\.$/);
  });
});
