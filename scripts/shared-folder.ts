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

/** What the command, or a driver, would read from the environment of whoever runs the tests. */
const READ = /^(?:PETSTORE_\w+|PG\w+|HOST|PORT)$/;
/** The variables of the tests themselves. */
const OURS = /^PETSTORE_(?:TEST_SIZE|SEED|FUZZ_REPLAY|SCREENSHOTS|POSTGRES|MUTATE_\w+)$/;

/** Creates a folder for the whole run of the tests, and removes it at the end. Builds the page of the console. */
export default async function ({ provide }: TestProject): Promise<() => void> {
  for (const name of Object.keys(process.env))
    if (READ.test(name) && !OURS.test(name)) Reflect.deleteProperty(process.env, name);
  await buildPage();
  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  // Programs that refuse to run as root run there as another user.
  chmodSync(folder, 0o711);
  provide("sharedFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
