import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore, petstoreReading } from "./support/command.js";

/** Runs a shell script in a mount namespace of its own, in which the folder `$0` is read-only. */
function runReadOnly(folder: string, script: string, ...args: readonly string[]) {
  const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && ';
  const command = ["-rm", "sh", "-c", mount + script, folder, ...args];
  return spawnSync("unshare", command, { encoding: "utf8" });
}

/** unshare may be missing, or not be allowed to mount. In this folder, nothing is being written. */
const canMount = runReadOnly(import.meta.dirname, "true").status === 0;

const program = useBuiltPetstore();

it.skipIf(!canMount)("a backup on a read-only disk can be listed and exported", async () => {
  const database = newDatabase();
  const options = ["--database", database];
  await petstoreReading('{"name":"Rex","categoryId":7}\n', "pets", "import", "-", ...options);
  const { id } = await issueKey(database);
  const folder = join(dirname(database), "backups");
  const backup = join(folder, "monday.db");
  mkdirSync(folder);
  await petstore("backup", backup, ...options);
  chmodSync(backup, 0o444);

  const run = (...args: readonly string[]) =>
    runReadOnly(folder, 'exec "$@"', process.execPath, program(), ...args, "--database", backup);
  expect(run("pets", "export").stdout).toContain('"name":"Rex"');
  expect(run("keys", "list").stdout).toContain(id);
  const refused = run("keys", "revoke", id);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("read-only")]);
});
