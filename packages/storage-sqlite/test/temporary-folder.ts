import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
