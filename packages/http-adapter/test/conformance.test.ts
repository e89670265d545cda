import { expect, test } from "vitest";
import { conformanceCases } from "./support/conformance/cases.js";
import { runCase } from "./support/conformance/run-case.js";
import { serve } from "./support/serve.js";

test.each(conformanceCases)("$name ($source)", async (row) => {
  const { port, key } = await serve();
  await runCase(row, port, key);
});

test("every row has a name of its own", () => {
  const names = conformanceCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
