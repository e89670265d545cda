import { expect, test } from "vitest";
import { contentCases } from "../support/conformance/content.js";
import { runCase } from "../support/conformance/run-case.js";
import { ownServer } from "../support/conformance/own-server.js";

test.each(contentCases)("$name ($source)", async (row) => {
  const { port, key } = await ownServer();
  await runCase(row, port, key);
});

test("every row has a name of its own", () => {
  const names = contentCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
