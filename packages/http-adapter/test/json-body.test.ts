import { expect, test } from "vitest";
import { decodeJson } from "@petstore/http-adapter";
import { serve } from "./support/serve.js";

test.each<[body: string, fields: readonly string[]]>([
  ["null", ["pet"]],
  ["{}", ["name", "categoryId"]],
  ['{"name":1,"categoryId":"1","status":null}', ["name", "categoryId", "status"]],
  ['{"name":"a","categoryId":9007199254740993,"categoryId":"x"}', ["categoryId"]],
])("the refusal of %s names %s", async (body, fields) => {
  const { create } = await serve();
  const { message } = JSON.parse((await create(body)).body) as { readonly message: string };
  const named = [...message.matchAll(/(\w+) must/g)].map(([, name]) => name);
  expect(named).toEqual(fields);
});

test.each<[what: string, digits: string]>([
  ["number", "9".repeat(1_000_000)],
  ["exponent", `1e${"9".repeat(1_000_000)}`],
  ["fraction", `1.${"0".repeat(1_000_000)}1`],
])("a huge %s is never written out, and costs its length, not its square", async (_, digits) => {
  expect(decodeJson(Buffer.from(digits))._unsafeUnwrap()).toBeNaN();
  const { create } = await serve({ maxBodyBytes: 2_000_000 });
  const { status, body } = await create(`{"name":"a","categoryId":${digits}}`);
  expect([status, body]).toEqual([400, expect.stringContaining('"invalid_pet"')]);
});
