import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

export interface TemporaryFolder {
  readonly path: (name: string) => string;
  readonly remove: () => void;
}

/** A folder for one test. */
export function createFolder(): TemporaryFolder {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  return {
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Gives each test of a file a folder of its own, which is removed after the test. */
export function useFolder(): Pick<TemporaryFolder, "path"> {
  let folder: TemporaryFolder | undefined;
  beforeEach(() => void (folder = createFolder()));
  afterEach(() => folder?.remove());
  return { path: (name) => folder?.path(name) ?? name };
}
