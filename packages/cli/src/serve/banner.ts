import { resolve } from "node:path";
import type { PetStore } from "@petstore/core";
import { describeStoreError } from "../describe-error.js";
import { IN_MEMORY, isPostgres, nameOf } from "../options.js";
import type { CommandIO } from "../terminal.js";

/** The facts that the banner of a server shows. */
export interface BannerOptions {
  readonly database: string;
  /** Whether the server has created the database. */
  readonly isNew: boolean;
  readonly workers: number;
  readonly firstKey?: true;
}

/** Prints the address of a server and the next steps of its operator. With `firstKey`, issues the first key. */
export async function printBanner(
  store: PetStore,
  url: string,
  { database, isNew, workers, firstKey }: BannerOptions,
  io: CommandIO,
): Promise<void> {
  const processes = workers > 1 ? ` with ${workers} workers` : "";
  const lines = [
    `petstore listens on ${url}${processes}`,
    `  try it    ${new URL("/docs", url).href}`,
  ];
  if (database === IN_MEMORY) lines.push("  database  in memory: it ends with the server");
  else {
    const name = nameOf(database);
    const where = isPostgres(database) ? name : resolve(database);
    const issue = `${commandName()} keys issue --plan free --database ${quoted(name)}`;
    lines.push(`  database  ${where}${isNew ? " (new)" : ""}`, `  new key   ${issue}`);
  }
  io.terminal.out(lines.join("\n"));
  if (firstKey) await issueFirstKey(store, url, io);
}

/** If the store has no key yet, issues a Free key and prints a command that uses it. */
async function issueFirstKey(
  store: PetStore,
  url: string,
  { terminal, report }: CommandIO,
): Promise<void> {
  const listed = await store.keys.list({ limit: 1 });
  if (listed.isErr() || listed.value.keys.length > 0) return;
  const issued = await store.keys.issue({ plan: "free", label: "first key" });
  if (issued.isErr()) {
    report(`no first key was issued: ${describeStoreError(issued.error)}`);
    return;
  }
  const { secret } = issued.value;
  terminal.out(`
There was no API key yet. This is the first one, on the Free plan, shown only once. Try it:

  curl -i -H "Authorization: Bearer ${secret}" "${url}/pets?limit=5"
`);
}

/** Returns the name of this command for a shell. If a package script runs it, it is not on the shell's path. */
function commandName(): string {
  return process.env["npm_lifecycle_event"] === undefined
    ? "petstore"
    : "node_modules/.bin/petstore";
}

/** Quotes a word for a shell, if it has special characters. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
