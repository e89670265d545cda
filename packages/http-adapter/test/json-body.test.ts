import { expect, test } from "vitest";
import { decodeJson } from "@petstore/http-adapter";
import { serve } from "./support/serve.js";

const utf16 = Buffer.from('\uFEFF{"name":"a","categoryId":1}', "utf16le");
const latin1 = Buffer.from('{"name":"é","categoryId":1}', "latin1");

test.each<[what: string, body: string | Uint8Array]>([
  ["nothing", ""],
  ["white space", " \r\n\t"],
  ["half an object", '{"name":"a","categoryId":1'],
  ["two values", "{}{}"],
  ["single quotes", "{'name':'a'}"],
  ["a trailing comma", '{"name":"a","categoryId":1,}'],
  ["a comment", '{"name":"a","categoryId":1}//'],
  ["NaN", '{"name":"a","categoryId":NaN}'],
  ["a plus sign", '{"name":"a","categoryId":+1}'],
  ["a leading zero", '{"name":"a","categoryId":01}'],
  ["a bare fraction", '{"name":"a","categoryId":.5}'],
  ["a fraction without digits", '{"name":"a","categoryId":1.}'],
  ["a long number with a leading zero", '{"name":"a","categoryId":09007199254740993}'],
  ["a raw line break in a string", '{"name":"a\n","categoryId":1}'],
  ["Latin-1", latin1],
  ["UTF-16", utf16],
  ["an overlong encoding", Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ["an encoded surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["a byte order mark", '\uFEFF{"name":"a","categoryId":1}'],
  ["a bomb of brackets", "[".repeat(60_000)],
  ["brackets 30,000 deep", nested(30_000)],
  ["a good pet around brackets 30,000 deep", petWith(nested(30_000))],
  [
    "the same with a long number",
    `{"name":"a","categoryId":9007199254740993,"x":${nested(30_000)}}`,
  ],
  ["a good pet around arrays 1,000 deep", petWith(nested(1_000))],
])("%s is 400 malformed_json", async (_, body) => {
  const { call } = await serve();
  const response = await call({ method: "POST", body });
  expect(response.status).toBe(400);
  expect(JSON.parse(response.body)).toMatchObject({ code: "malformed_json", status: 400 });
});

test.each<[body: string, fields: readonly string[]]>([
  ["null", ["object"]],
  ["[]", ["object"]],
  ['"pet"', ["object"]],
  ["9007199254740993", ["object"]],
  ["{}", ["name", "categoryId"]],
  ['{"name":1,"categoryId":"1","status":null}', ["name", "categoryId", "status"]],
  ['{"name":1.0,"categoryId":1}', ["name"]],
  ['{"name":9007199254740993,"categoryId":1}', ["name"]],
  ['{"name":"\\u0000","categoryId":1}', ["name"]],
  ['{"name":"\\ud800","categoryId":1}', ["name"]],
  ['{"name":"\\ud800","categoryId":9007199254740993}', ["name"]],
  ['{"name":"a","categoryId":null}', ["categoryId"]],
  ['{"name":"a","categoryId":1.5}', ["categoryId"]],
  ['{"name":"a","categoryId":1.0000000000000001}', ["categoryId"]],
  ['{"name":"a","categoryId":9007199254740991.4}', ["categoryId"]],
  ['{"name":"a","categoryId":1e-1}', ["categoryId"]],
  ['{"name":"a","categoryId":"1.0"}', ["categoryId"]],
  ['{"name":"a","categoryId":{"value":"1","isLosslessNumber":true}}', ["categoryId"]],
  ['{"name":"a","categoryId":1,"status":"Sold"}', ["status"]],
  ['{"name":"a","categoryId":1,"status":"toString"}', ["status"]],
  ['{"__proto__":{"name":"a","categoryId":1}}', ["name", "categoryId"]],
  ['{"__proto__":{"name":"a","categoryId":9007199254740993}}', ["name", "categoryId"]],
  ['{"name":"a","categoryId":1,"categoryId":"x"}', ["categoryId"]],
  ['{"name":"a","categoryId":9007199254740993,"categoryId":"x"}', ["categoryId"]],
])("%s is 400 invalid_pet and names %s", async (body, fields) => {
  const { create } = await serve();
  const response = await create(body);
  expect(response.status).toBe(400);
  const error = JSON.parse(response.body) as { readonly code: string; readonly message: string };
  expect(error.code).toBe("invalid_pet");
  for (const field of ["name", "categoryId", "status", "object"]) {
    expect(error.message.includes(`${field} must`) || error.message.includes(`an ${field}`)).toBe(
      fields.includes(field),
    );
  }
});

test.each<[body: string, created: string]>([
  ['{"name":"","categoryId":0}', '"name":"","categoryId":0,"status":"available"'],
  ['{"name":"a","categoryId":1.0}', '"categoryId":1,'],
  ['{"name":"a","categoryId":1e2}', '"categoryId":100,'],
  ['{"name":"a","categoryId":1.5E+1}', '"categoryId":15,'],
  ['{"name":"a","categoryId":9e18}', '"categoryId":9000000000000000000,'],
  ['{"name":"a","categoryId":9E18}', '"categoryId":9000000000000000000,'],
  ['{"name":"a","categoryId":10e-1}', '"categoryId":1,'],
  ['{"name":"a","categoryId":-0}', '"categoryId":0,'],
  ['{"name":"a","categoryId":-0.0e999999999}', '"categoryId":0,'],
  ['{"name":"a","categoryId":9223372036854775807.000}', '"categoryId":9223372036854775807,'],
  ['{"name":"a","categoryId":922337203685477580.7e1}', '"categoryId":9223372036854775807,'],
  ['{"name":"a","categoryId":1,"name":"b"}', '"name":"b"'],
  ['{"name":"a","categoryId":1,"name":"b","x":1.5}', '"name":"b"'],
  ['{"name":"a","categoryId":2,"id":77,"x":{"y":[1e5]}}', '{"id":1,"name":"a","categoryId":2,'],
  ['{"name":"a","categoryId":1,"__proto__":{"status":"sold"}}', '"status":"available"'],
  ['{"name":"a","categoryId":1,"__proto__":{"status":"sold"},"x":1.5}', '"status":"available"'],
  ['{"name":"\\u0022\\\\\\u00e9\\ud83d\\udc36\u2028","categoryId":1}', '"name":"\\"\\\\é🐶\u2028"'],
  [' \r\n{"name":"5.e","categoryId":1}\t ', '"name":"5.e"'],
])("%s is a pet with %s", async (body, created) => {
  const { create, call } = await serve();
  const response = await create(body);
  expect([response.status, response.body]).toEqual([201, expect.stringContaining(created)]);
  expect((await call()).body).toContain(created);
});

test.each<[what: string, body: string]>([
  ["a name of 3,000 brackets", `{"name":"${"[".repeat(3_000)}","categoryId":1}`],
  ["3,000 brackets after a quote in its name", `{"name":"\\"${"[".repeat(3_000)}","categoryId":1}`],
  ["2,000 arrays beside one another", petWith(`[${"[],".repeat(1_999)}[]]`)],
  ["arrays 999 deep", petWith(nested(999))],
])("a pet with %s is 201", async (_, body) => {
  const { create } = await serve();
  expect((await create(body)).status).toBe(201);
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

/** Arrays in arrays, so many levels of them. */
function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

/** A good pet with an unknown field of this value. */
function petWith(value: string): string {
  return `{"name":"a","categoryId":1,"x":${value}}`;
}
