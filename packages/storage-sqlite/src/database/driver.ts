import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { codeOf } from "@petstore/core/facts";
import type Driver from "better-sqlite3";
import { OpenRefusal } from "./open-storage-error.js";

/** The part of a better-sqlite3 `Database` that this package uses. Its users need no types of better-sqlite3. */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare<Row>(source: string): SqliteStatement<Row>;
  exec(source: string): unknown;
  pragma(source: string, options?: { readonly simple?: boolean }): unknown;
}

export interface SqliteStatement<Row> {
  get(values: readonly unknown[]): Row | undefined;
  all(values: readonly unknown[]): Row[];
  iterate(values: readonly unknown[]): Iterable<Row>;
  run(values: readonly unknown[]): unknown;
  safeIntegers(on: boolean): unknown;
  raw(on: boolean): unknown;
  columns(): readonly { readonly name: string }[];
}

export type DatabaseConstructor = typeof Driver;

/** The driver, and the URL by which another thread imports it; `undefined` where it cannot be told. */
export interface LoadedDriver {
  readonly Database: DatabaseConstructor;
  readonly url: string | undefined;
}

/**
 * 12 is the last version for Node 20, and has to be compiled. On Node 24.19 and newer it crashes the process
 * when a statement is garbage-collected (nodejs/node#65446). 13 brings its binaries, also for Bun and Deno;
 * they crash Node 20.
 */
const isNode20 = Number(process.versions.node.split(".")[0]) < 22;
const VERSION = isNode20 ? 12 : 13;

/** Loads the better-sqlite3 for this Node, and its compiled part. @throws OpenRefusal `driver_unavailable` */
export async function loadDriver(): Promise<LoadedDriver> {
  try {
    const driver = await findDriver();
    // The compiled part is loaded when the first database is opened.
    new driver.Database(":memory:").close();
    return driver;
  } catch (error) {
    throw new OpenRefusal("driver_unavailable", unavailable(error), error);
  }
}

/**
 * Imports the first of the packages that has the right version, else the last whose version cannot be told. The host's
 * own comes first: with two copies of SQLite in a process, each would undo the locks of the other.
 */
async function findDriver(): Promise<LoadedDriver> {
  let untold: LoadedDriver | undefined;
  let problem: unknown;
  for (const name of isNode20 ? ["better-sqlite3"] : ["better-sqlite3", "better-sqlite3-13"]) {
    try {
      const driver = await importDriver(name);
      const version = versionOf(driver);
      if (version?.startsWith(`${VERSION}.`)) return driver;
      if (version !== undefined) throw new WrongVersion(version);
      untold = driver;
    } catch (error) {
      if (problem === undefined || isNotInstalled(problem)) problem = error;
    }
  }
  if (untold === undefined) throw problem;
  return untold;
}

class WrongVersion extends Error {
  constructor(version: string) {
    super(`Version ${version} does not run on Node ${process.versions.node}`);
  }
}

/** Returns the version of a driver whose compiled part is not loaded yet; `undefined` where it cannot be told. */
function versionOf({ url }: LoadedDriver): string | undefined {
  if (url === undefined) return undefined;
  try {
    const manifest = readFileSync(new URL("../package.json", url), "utf8");
    return /"version":\s*"([^"]+)"/.exec(manifest)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * A bundler leaves an import alone if its name is a variable. It could not bundle the compiled part of the
 * driver, and without the driver it would fail. Tools that copy the files that a program needs (Next's `standalone`,
 * Nitro) find both names, because both stand where the variable is declared.
 */
async function importDriver(wanted: string): Promise<LoadedDriver> {
  const name = wanted === "better-sqlite3" ? "better-sqlite3" : "better-sqlite3-13";
  // eslint-disable-next-line no-restricted-syntax -- It is the name of the driver.
  const driver: unknown = await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name
  );
  if (!isDriver(driver)) throw new TypeError(`${name} has no Database`);
  return { Database: driver.default, url: urlOf(driver.default) };
}

/** Looks where Node keeps loaded modules: a bundler may change `import.meta.url`, and an imported `createRequire`. */
function urlOf(exported: DatabaseConstructor): string | undefined {
  try {
    const { createRequire } = process.getBuiltinModule("node:module");
    const loaded = Object.values(createRequire(process.execPath).cache);
    const found = loaded.find((module) => module?.exports === exported);
    return found && pathToFileURL(found.filename).href;
  } catch {
    return undefined;
  }
}

function isDriver(module: unknown): module is { readonly default: DatabaseConstructor } {
  return typeof module === "object" && module !== null && "default" in module;
}

/** A bundler may have turned the import into a `require`, whose error has the shorter code. */
const isNotInstalled = (error: unknown): boolean => codeOf(error).endsWith("MODULE_NOT_FOUND");

function unavailable(error: unknown): string {
  const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  // A list of the places that were tried follows.
  const sentence = reason.replace(/ Tried:$/, "").replace(/[.:]?$/, ".");
  const problem = `better-sqlite3 cannot be loaded: ${sentence}`;
  const install = `Run \`npm install better-sqlite3@${VERSION}\` in the folder of the program`;
  if (!isNode20) return `${problem} ${install}.`;
  const isInstalled = !isNotInstalled(error) && !(error instanceof WrongVersion);
  return `${problem} ${isInstalled ? REBUILD : install}${COMPILER}.`;
}

const REBUILD = "Run `npm rebuild better-sqlite3`, or `pnpm approve-builds` with pnpm";
const COMPILER =
  ", with a C++ compiler if its binary cannot be downloaded; Node 22 and newer need no compiler";
