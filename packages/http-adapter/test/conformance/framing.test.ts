import { expect, test } from "vitest";
import { framingCases } from "../support/conformance/framing.js";
import { runCase } from "../support/conformance/run-case.js";
import { ownServer } from "../support/conformance/own-server.js";

test.each(framingCases)("$name ($source)", async (row) => {
  const { port, key } = await ownServer();
  await runCase(row, port, key);
});

test("every row has a name of its own", () => {
  const names = framingCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
