import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startCommand, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore } from "./support/command.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";

const program = useBuiltPetstore();
const REX = '{"name":"Rex","categoryId":1}\n';

async function withPet() {
  const database = newDatabase();
  const file = `${database}.ndjson`;
  writeFileSync(file, REX);
  await petstore("pets", "import", file, "--database", database);
  return { database, file };
}

it("an export shows no progress where it shows its data", async () => {
  const { database } = await withPet();
  const command = `${process.execPath} ${program()} pets export --database ${database}`;
  const { output, ended } = runOnTerminal(command, 80, 24);
  expect(await ended).toBe(0);
  expect(output()).toMatch(/^\{"id":1,.*\}\r\nexported 1 pet\r\n$/);
});

it("a terminal that does not know its size shows whole lines", async () => {
  const database = newDatabase();
  const { id } = await issueKey(database);
  const command = `${process.execPath} ${program()} keys list --database ${database}`;
  const { output, ended } = runOnTerminal(command, 0, 0);
  expect(await ended).toBe(0);
  expect(output()).toContain("EXPIRES (UTC)");
  expect(output()).toContain(id);
});

it("standard input is not written to as the file of --rejects", async () => {
  const { database, file } = await withPet();
  const args = [process.execPath, program(), "pets", "import", "-", "--database", database];
  const script = `"$@" --rejects ${file} --from-line 2 < ${file}`;
  const child = spawnSync("sh", ["-c", script, "sh", ...args], { encoding: "utf8" });
  expect([child.status, child.stderr]).toEqual([
    1,
    `petstore: cannot write rejected lines to ${file}: it is the file that is imported\n`,
  ]);
});

it("a console prints a link for each line of a pipe, and ends with it", async () => {
  const { database } = await withPet();
  const { child, output, ended } = startCommand("console", "--database", database);
  const links = (): number => output().split("#token=").length - 1;
  await expect.poll(links).toBe(1);
  child.stdin.write("\n\n");
  await expect.poll(links).toBe(3);
  child.stdin.end();
  expect(await ended).toBe(0);
});

it("a console in the background does not stop when its terminal has input", async () => {
  const database = newDatabase();
  await issueKey(database);
  const console = `${process.execPath} ${program()} console --no-open --database ${database}`;
  const job = `bash -m -c '${console} & echo "pid $!"; wait $!; echo "ended with $?"'`;
  const { output, type, ended } = runOnTerminal(job, 200, 24);
  await expect.poll(output).toMatch(/#token=\S+\r\n/);
  type("\r");
  const [, pid, url = ""] = /pid (\d+)[^]*?(http:\S+)/.exec(output()) ?? [];
  expect((await fetch(url)).status).toBe(401);
  process.kill(Number(pid), "SIGTERM");
  expect(await ended).toBe(0);
  expect(output()).toContain("ended with 0");
});
