import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { createFolder } from "../temporary-folder.js";
import type { Attacked } from "./attacked-process.js";
import { madeUpKey } from "./made-up-key.js";
import { useBundled } from "../../../../scripts/bundled-programs.js";
import { sized } from "../../../../scripts/test-size.js";

const KEYS = sized(1_000, 100_000, 1_000_000);
const MEBIBYTE = 2 ** 20;
const PROGRAM = "packages/storage-sqlite/test/limits/attacked-process.ts";

const program = useBundled("attacked-process", [PROGRAM]);

it(`${String(KEYS)} distinct bad keys cost no row, no lasting memory and no good client its service`, async () => {
  expect(new Set(Array.from({ length: 1_000 }, (_, number) => madeUpKey(number))).size).toBe(1_000);

  const folder = createFolder();
  const attacked = await attack(folder.path("pets.db"));
  folder.remove();

  expect(attacked.growth / MEBIBYTE).toBeLessThanOrEqual(20);
  expect(attacked.after).toEqual(attacked.before);
  // The half with a wrong checksum is refused without a look-up.
  expect(attacked.lookUps).toBe(KEYS / 2);
  expect(Object.keys(attacked.outcomes).sort()).toEqual(["invalid_api_key", "rate_limit_exceeded"]);
  expect(attacked.good).toEqual({ served: 21, made: 21 });
});

async function attack(filename: string): Promise<Attacked> {
  const child = fork(program(PROGRAM), [filename, String(KEYS)], { execArgv: ["--expose-gc"] });
  const exited = once(child, "exit").then(([code]: unknown[]) => {
    throw new Error(`the attacked process ended with ${String(code)}`);
  });
  const [attacked] = (await Promise.race([once(child, "message"), exited])) as [Attacked];
  await exited.catch(() => undefined);
  console.log(`memory grew by ${(attacked.growth / MEBIBYTE).toFixed(1)} MiB`);
  return attacked;
}
