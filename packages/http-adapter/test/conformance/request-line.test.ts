import { expect, test } from "vitest";
import { requestLineCases } from "../support/conformance/request-line.js";
import { runCase } from "../support/conformance/run-case.js";
import { ownServer } from "../support/conformance/own-server.js";

test.each(requestLineCases)("$name ($source)", async (row) => {
  const { port, key } = await ownServer();
  await runCase(row, port, key);
});

test("every row has a name of its own", () => {
  const names = requestLineCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
