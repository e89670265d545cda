import type Driver from "better-sqlite3";
import { OpenRefusal } from "./open-storage-error.js";

/** The constructor of better-sqlite3's `Database`. */
export type DatabaseConstructor = typeof Driver;

/** The driver, and the URL by which another thread imports it; `undefined` where a bundler hides it. */
export interface LoadedDriver {
  readonly Database: DatabaseConstructor;
  readonly url: string | undefined;
}

/** The first Node that better-sqlite3 13 runs on. Older ones do not install this optional dependency. */
const FIRST_NODE_OF_13 = 22;

/**
 * Loads the better-sqlite3 for this Node, and its compiled part. Version 12 is the last for Node 20. On
 * Node 24.19 and newer it crashes the process when a statement is garbage-collected (nodejs/node#65446).
 * Version 13 uses Node-API, and so also runs on Bun and Deno.
 * @throws OpenRefusal `driver_unavailable`
 */
export async function loadDriver(): Promise<LoadedDriver> {
  try {
    const driver = (await import13()) ?? (await importDriver("better-sqlite3"));
    // The compiled part is loaded when the first database is opened.
    new driver.Database(":memory:").close();
    return driver;
  } catch (error) {
    throw new OpenRefusal("driver_unavailable", unavailable(error), error);
  }
}

async function import13(): Promise<LoadedDriver | undefined> {
  const [major = ""] = process.versions.node.split(".");
  if (Number(major) < FIRST_NODE_OF_13) return undefined;
  try {
    return await importDriver("better-sqlite3-13");
  } catch (error) {
    if (isNotInstalled(error)) return undefined;
    throw error;
  }
}

/**
 * A bundler leaves an import alone if its name is a variable. It could not bundle the compiled part of the
 * driver, and without the driver it would fail.
 */
async function importDriver(name: string): Promise<LoadedDriver> {
  // eslint-disable-next-line no-restricted-syntax -- It is the name of the driver.
  const driver: unknown = await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name
  );
  if (!isDriver(driver)) throw new TypeError(`${name} has no Database`);
  return { Database: driver.default, url: urlOf(name) };
}

function urlOf(name: string): string | undefined {
  try {
    return import.meta.resolve(name);
  } catch {
    return undefined;
  }
}

function isDriver(module: unknown): module is { readonly default: DatabaseConstructor } {
  return typeof module === "object" && module !== null && "default" in module;
}

/** A bundler may have turned the import into a `require`, whose error has the shorter code. */
function isNotInstalled(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && String(error.code).endsWith("MODULE_NOT_FOUND")
  );
}

function unavailable(error: unknown): string {
  const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  // A list of the places that were tried follows.
  const sentence = reason.replace(/ Tried:$/, "").replace(/[.:]?$/, ".");
  return `better-sqlite3 cannot be loaded: ${sentence} ${cureFor(error)}`;
}

function cureFor(error: unknown): string {
  if ("bun" in process.versions || "deno" in process.versions) {
    return "On Bun and Deno, the storage needs better-sqlite3 13: install its optional dependency better-sqlite3-13.";
  }
  return isNotInstalled(error)
    ? "Run `npm install better-sqlite3` in the folder of the program."
    : "Run `npm rebuild better-sqlite3`; with pnpm, first allow its build script with `pnpm approve-builds`.";
}
