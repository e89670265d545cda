import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { runCommand } from "@petstore/cli";
import { createPetStore, type PetStore, type PetStoreOptions } from "@petstore/core";
import { openPostgresStorage } from "@petstore/storage-postgres";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { beforeAll, expect, inject, onTestFinished } from "vitest";
import { createFolder } from "../../../storage-sqlite/test/support/storage.js";

type Streams = NonNullable<Parameters<typeof runCommand>[2]>;
type On = Partial<Streams> & { readonly columns?: number };
type Input = string | Buffer | readonly Buffer[];

/** Each of these runs the petstore command in this process. */
export const petstore = (...args: readonly string[]) => run(args);
export const refused = (error: unknown) => ({ code: 1, out: "", error });

/** On these streams, or a terminal of so many columns. */
export const petstoreOn = (on: On, ...args: readonly string[]) => run(args, on);

export function petstoreReading(input: Input, ...args: readonly string[]) {
  const isWhole = typeof input === "string" || Buffer.isBuffer(input);
  return run(args, { stdin: Readable.from(isWhole ? [Buffer.from(input)] : input) });
}

async function run(args: readonly string[], { columns, ...streams }: On = {}) {
  const [out, error, data]: [string[], string[], Buffer[]] = [[], [], []];
  const stdout = writableTo((part, done) => done(void data.push(part)));
  const print = {
    out: (line: string) => out.push(line),
    error: (line: string) => error.push(line),
    written: () => Promise.resolve(undefined),
    columns,
  };
  const stderr = writableTo((_, done) => done());
  const own = { stdin: Readable.from([]), stdout, stderr };
  const code = await runCommand(args, print, { ...own, ...streams });
  out.push(Buffer.concat(data).toString("utf8"));
  return { code, out: out.join("\n").replace(/\n$/, ""), error: error.join("\n") };
}

/** Starts `petstore serve` in this process, on a free port. It serves until `end` is called or the test ends. */
export async function serveHere(...args: readonly string[]) {
  const server = await startHere(...args);
  onTestFinished(() => server.end().then(() => undefined));
  return server;
}

/** Starts a server in this process for the tests of a file or of a group. Returns a function that returns it. */
export function useServerHere(...args: readonly string[]) {
  let server: (Awaited<ReturnType<typeof startHere>> & { readonly database: string }) | undefined;
  beforeAll(async () => {
    const database = join(mkdtempSync(join(inject("sharedFolder"), "server-")), "pets.db");
    server = Object.assign(await startHere("--database", database, ...args), { database });
    return server.end;
  });
  return () => server ?? expect.unreachable();
}

async function startHere(...args: readonly string[]) {
  const before = process.listeners("uncaughtException");
  let [output, isUp] = ["", (): void => undefined];
  const controller = new AbortController();
  const stop = () => controller.abort("SIGTERM");
  const stopSignal = { signal: controller.signal, end: () => undefined };
  const up = new Promise<void>((resolve) => (isUp = resolve));
  const write = (text: string): void => {
    output += text;
    if (text.includes(" listens on ")) isUp();
  };
  const line = (text: string): void => write(`${text}\n`);
  const stdout = terminalTo(write, { isTTY: false });
  const terminal = { out: line, error: line, written: () => Promise.resolve(undefined) };
  const streams = { stdin: Readable.from([]), stdout, stderr: stdout };
  const ended = runCommand(["serve", "--port", "0", ...args], terminal, streams, stopSignal);
  await Promise.race([Promise.allSettled([ended]), up]);
  return {
    // Fails in a test, if it has not started: tests after a hook that fails count as skipped.
    get url() {
      return /listens on (\S+)/.exec(output)?.[1] ?? expect.fail(output);
    },
    output: () => output,
    end: async (): Promise<unknown> => {
      stop();
      const code = await ended;
      for (const listener of process.listeners("uncaughtException"))
        if (!before.includes(listener)) process.off("uncaughtException", listener);
      return code;
    },
  };
}

/** Skips a test if a program is not installed, and says how to install it. */
export function skipWithout(
  program: string,
  skip: (condition: boolean, note: string) => void,
  name = program,
): void {
  const isThere = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  const command = `apt-get update && apt-get install -y ${name}`;
  skip(!isThere, `${name} is not installed: run \`${command}\`.`);
}

export const writableTo = (write: (part: Buffer, done: (problem?: Error) => void) => void) =>
  new Writable({ write: (part: Buffer, _, done) => write(part, done) });

/** A stream to a terminal, of this size, or to something else. Each part of text is passed to this function. */
export const terminalTo = (write: (text: string) => unknown, size: object = {}) =>
  Object.assign(
    writableTo((part, done) => done(void write(part.toString()))),
    { isTTY: true, ...size },
  );

/** Returns a path for a database in a new folder, which is removed when the test ends. */
export const newDatabase = (): string => join(createFolder(), "pets.db");
export const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
export const REX = '{"name":"Rex","categoryId":1}\n';

/** A new database, and functions that run commands on it: one parses JSON, one adds pets. */
export function withDatabase() {
  const database = newDatabase();
  const run = (...args: readonly string[]) => petstore(...args, "--database", database);
  return {
    ...{ database, run },
    json: async (...args: readonly string[]): Promise<unknown> =>
      JSON.parse((await run(...args, "--json")).out),
    read: (input: Input, ...args: readonly string[]) =>
      petstoreReading(input, ...args, "--database", database),
  };
}

export const petsIn = async (database: string): Promise<readonly string[]> =>
  (await petstore("pets", "export", "--database", database)).out.split("\n").filter(Boolean);

export const namesIn = async (database: string): Promise<readonly string[]> =>
  (await petsIn(database)).map((pet) => (JSON.parse(pet) as { name: string }).name);

export async function issueKey(database: string, ...options: readonly string[]) {
  const plan = options.includes("--plan") ? [] : ["--plan", "free"];
  const args = [...plan, ...options, "--database", database, "--json"];
  const { out, error } = await petstore("keys", "issue", ...args);
  expect(error).toMatch(/^(petstore: new database \S+)?$/);
  return JSON.parse(out) as { readonly id: string; readonly secret: string };
}

export async function databaseWithKey(...options: readonly string[]) {
  const database = newDatabase();
  return { database, ...(await issueKey(database, ...options)) };
}

export const ownPlan = (perMinute: number, perDay: number): readonly string[] =>
  `--plan enterprise --per-minute ${perMinute} --per-day ${perDay}`.split(" ");

export const issueUnlimitedKey = async (database: string): Promise<string> =>
  (await issueKey(database, ...ownPlan(1e9, 1e12))).secret;

/** The store in this database, in this process, beside the servers on it. Closed when the test ends. */
export async function openBeside(
  database: string,
  options: Omit<PetStoreOptions, "storage"> = {},
): Promise<PetStore> {
  const opened = database.startsWith("postgres:")
    ? await openPostgresStorage({ url: database })
    : await openSqliteStorage({ filename: database });
  const store = createPetStore({ ...options, storage: opened._unsafeUnwrap() });
  onTestFinished(() => store.close().then(() => undefined));
  return store;
}

/** Makes a database refuse pets after this many more, until `end` is called. */
export function fillUpAfter(database: string, pets: number): { readonly end: () => void } {
  const connection = new Database(database);
  connection.exec(`
    create table room as select count(*) + ${pets} as pets from pets;
    create trigger no_room before insert on pets
    when (select count(*) from pets) >= (select pets from room)
    begin select raise(rollback, 'no room'); end`);
  return {
    end: () => {
      connection.exec("drop trigger no_room; drop table room");
      connection.close();
    },
  };
}
