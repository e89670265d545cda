import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPage } from "../packages/console/build-page.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A temporary folder that all test files of a run share. */
    readonly sharedFolder: string;
  }
}

/** Creates a folder for the whole run of the tests, and removes it at the end. Builds the page of the console. */
export default async function ({ provide }: TestProject): Promise<() => void> {
  await buildPage();
  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  // Programs that refuse to run as root run there as another user.
  chmodSync(folder, 0o711);
  provide("sharedFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
