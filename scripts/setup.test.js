import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

/** Creates a repository whose install only counts how often it ran, and takes as long as a file `slow` is there. */
function createRepository() {
  const root = mkdtempSync(join(tmpdir(), "petstore-setup-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  /** @type {(name: string, text: string) => void} */
  const write = (name, text) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const name of ["setup.js", "exclusively.js", "packages.js", "run.js"])
    cpSync(fileURLToPath(new URL(name, import.meta.url)), join(root, "scripts", name));
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs"]) write(name, "");
  write("package.json", '{ "type": "module" }');
  write("packages/cli/package.json", "{}");
  write("packages/.DS_Store", "");
  write("packages/notes/todo.txt", "");
  // The driver that the setup looks for on Node 20.
  write("node_modules/better-sqlite3/index.js", "module.exports = class {};");
  write(
    "scripts/pnpm.js",
    `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
    appendFileSync("installs", ".");
    while (existsSync("slow"));
    writeFileSync("node_modules/.modules.yaml", "by setup");`,
  );
  const setUp = async () => {
    const child = spawn(process.execPath, ["scripts/setup.js"], { cwd: root });
    let out = "";
    child.stdout.on("data", (text) => (out += String(text)));
    child.stderr.on("data", (text) => (out += String(text)));
    return { code: await new Promise((resolve) => child.on("close", resolve)), out };
  };
  const installs = () =>
    existsSync(join(root, "installs")) ? readFileSync(join(root, "installs"), "utf8").length : 0;
  return { root, write, setUp, installs };
}

it("installs once, beside other files and folders in packages, and again after an install that was not ours", async () => {
  const { write, setUp, installs } = createRepository();
  expect(await setUp()).toMatchObject({ code: 0, out: expect.stringMatching(/^Installing /) });
  expect(await setUp()).toEqual({ code: 0, out: "" });
  write("node_modules/.modules.yaml", "by pnpm install --prod");
  await setUp();
  expect(installs()).toBe(2);
});

it("installs once when it is started twice, and does not wait for a process that was killed", async () => {
  const { root, write, setUp, installs } = createRepository();
  write("node_modules/.installing", "999999999");
  write("slow", "");
  const [first, second] = [setUp(), setUp()];
  await expect.poll(installs).toBe(1);
  rmSync(join(root, "slow"));
  expect([(await first).code, (await second).code]).toEqual([0, 0]);
  expect(installs()).toBe(1);
});
