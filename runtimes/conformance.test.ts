import { expect, test } from "vitest";
import type { ConformanceCase } from "../packages/http-adapter/test/support/conformance/case.js";
import { conformanceCases } from "../packages/http-adapter/test/support/conformance/cases.js";
import { runCase, sendCase } from "../packages/http-adapter/test/support/conformance/run-case.js";
import { bunNode, bunServe, denoNode, denoServe, type Difference } from "./differences.js";
import { issueKey, newDatabase, serve, type RuntimeName } from "./served-program.js";

const reachingTheStore = conformanceCases.filter(({ ownServerOnly }) => ownServerOnly !== true);

test.each<[string, RuntimeName, string, readonly ConformanceCase[], readonly Difference[]]>([
  ["Bun.serve", "Bun", "bun.ts", reachingTheStore, bunServe],
  ["Deno.serve", "Deno", "deno.ts", reachingTheStore, denoServe],
  ["a server of ours in Bun", "Bun", "own-server.ts", conformanceCases, bunNode],
  ["a server of ours in Deno", "Deno", "own-server.ts", conformanceCases, denoNode],
])("%s conforms, but for the rows that are listed", async (_, runtime, program, rows, listed) => {
  const database = newDatabase();
  const { port } = await serve(runtime, program, database);
  const secret = await issueKey(database, { perMinute: 1_000, perDay: 1_000 });
  const outcomes = rows.map((row) => {
    const difference = listed.find((each) => each.rows.test(row.name));
    return within60Seconds(
      difference === undefined
        ? runCase(row, port, secret)
        : runDifference(row, difference, port, secret),
    ).catch((reason: unknown) => `${row.name}: ${String(reason)}`);
  });
  expect((await Promise.all(outcomes)).filter((each) => each !== undefined)).toEqual([]);
  for (const { rows: names } of listed) {
    expect(rows.filter(({ name }) => names.test(name))).not.toEqual([]);
  }
  expect(rows.length).toBeGreaterThan(150);
});

async function runDifference(
  row: ConformanceCase,
  { first, reason }: Difference,
  port: number,
  secret: string,
): Promise<void> {
  const wire = await sendCase(row, port, secret);
  const found = await wire.response().then(
    ({ status }) => status,
    () => "closed",
  );
  wire.socket.destroy();
  expect(found, reason).toBe(first);
}

/** Rejects if a row has not ended: it waits for a response, or for the end of its connection. */
async function within60Seconds(row: Promise<void>): Promise<void> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    deadline = setTimeout(() => reject(new Error("not ended after 60 seconds")), 60_000);
  });
  try {
    await Promise.race([row, late]);
  } finally {
    clearTimeout(deadline);
  }
}
