import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, onTestFinished } from "vitest";

/** Creates a folder, which is removed at the end of the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Gives each test of a file a folder of its own. */
export function useFolder(): { readonly path: (name: string) => string } {
  let folder = "";
  beforeEach(() => void (folder = createFolder()));
  return { path: (name) => join(folder, name) };
}
