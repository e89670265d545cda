import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { runCommand } from "@petstore/cli";

/** What a command came to. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs the petstore command in this process. */
export async function petstore(...args: readonly string[]): Promise<Ran> {
  const out: string[] = [];
  const error: string[] = [];
  const code = await runCommand(args, {
    out: (line) => out.push(line),
    error: (line) => error.push(line),
  });
  return { code, out: out.join("\n"), error: error.join("\n") };
}

/** A path for a database in a folder of its own, which goes when the test ends. */
export function newDatabase(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "pets.db");
}
