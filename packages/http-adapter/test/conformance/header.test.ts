import { expect, test } from "vitest";
import { headerCases } from "../support/conformance/header.js";
import { runCase } from "../support/conformance/run-case.js";
import { ownServer } from "../support/conformance/own-server.js";

test.each(headerCases)("$name ($source)", async (row) => {
  const { port, key } = await ownServer();
  await runCase(row, port, key);
});

test("every row has a name of its own", () => {
  const names = headerCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
