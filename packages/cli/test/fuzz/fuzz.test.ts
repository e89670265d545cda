import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inCi, seed, sized } from "../../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore, workersOf } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";
import { measure, PROBED, untilAtRest } from "./probe.js";
import { runRound } from "./round.js";
import { sequence, TIMEOUT, type Sequence } from "./sequences.js";

const SEQUENCES = sized(200, 20_000, 500_000);
/** A file with sequences: only they are sent, repeatedly. A failure writes one. */
const REPLAY = process.env["PETSTORE_FUZZ_REPLAY"];
/** How much more memory a server may hold at the end than after the first quarter, in bytes. */
const GROWTH = 8 * 1_048_576;
const program = useBuiltPetstore();

test.runIf(inCi || REPLAY !== undefined).each([
  [SEQUENCES, "a server", []],
  [SEQUENCES / 4, "one with workers", ["--workers", "2"]],
] as const)(
  `%i sequences do not end, hang or leak %s (PETSTORE_SEED=${seed})`,
  { timeout: 240_000 + SEQUENCES * 20 },
  async (sequences, _, args) => {
    const database = newDatabase();
    const key = await issueUnlimitedKey(database);
    const command = [process.execPath, ...PROBED, program()];
    const server = await startBuilt(command, "--database", database, ...args);
    const headers = { Authorization: `Bearer ${key}`, Connection: "close" };
    await (await fetch(`${server.url}/pets`, { headers })).text();
    let baseline: readonly string[] = [];
    const connections = async () => {
      baseline = (await measure(server)).resources;
      return baseline.filter((name) => /Socket|Timeout/.test(name)).length;
    };
    // A worker holds the server's socket and a timer also at rest.
    await expect.poll(connections).toBeLessThanOrEqual(2 * workersOf(server).length);
    let sent = 0;
    const target = { server, database, key, next: () => (sent += 1) };
    const rounds = Math.max(2, Math.ceil(sequences / 2_500));
    const memory: number[] = [];
    const run = (round: number, done: () => Promise<string | undefined>) =>
      runRound(target, generate(round, Math.ceil(sequences / rounds)), done);

    for (let round = 0; round < rounds; round += 1) {
      await run(round, () => untilAtRest(server, baseline));
      memory.push((await measure(server)).memory);
    }
    const growth = (memory.at(-1) ?? Infinity) - (memory[Math.floor(rounds / 4)] ?? 0);
    expect(growth, `memory after each round: ${memory.join()}`).toBeLessThan(GROWTH);

    // A signal in the midst of it: requests under way get 10 s, then the store is closed.
    const ended = setTimeout(20).then(() => server.end());
    await run(rounds, async () => {
      const how = await Promise.race([ended, setTimeout(TIMEOUT, "too late", { ref: false })]);
      return how === 0 ? undefined : `after SIGTERM: ${how}`;
    });
  },
);

function generate(round: number, numRuns: number): readonly Sequence[] {
  if (REPLAY === undefined) return fc.sample(sequence, { seed: seed + round, numRuns });
  const suspects = JSON.parse(readFileSync(REPLAY, "utf8")) as Sequence[];
  return Array.from({ length: Math.ceil(numRuns / suspects.length) }, () => suspects).flat();
}
