import { PET } from "../serve.js";
import { each, error, head, list, post, rows, words, type ConformanceCase } from "./case.js";

const queries = (texts: readonly string[]) =>
  each("specification, GET /pets", "?%s", texts, (text) => head(`GET /v1/pets?${text}`));

/** Rows of good pets, and what their responses contain. */
function pets(
  source: string,
  table: readonly (readonly [name: string, body: string, expected: RegExp])[],
): readonly ConformanceCase[] {
  const headers = { location: /^\/v1\/pets\/\d+$/ };
  return table.flatMap(([name, text, body]) =>
    rows({ responses: [{ status: 201, body, headers }] }, [
      [source, name, post(Buffer.from(text).toString("latin1"))],
    ]),
  );
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const petWith = (value: string, categoryId = "1", more = ""): string =>
  `{"name":"a","categoryId":${categoryId},${more}"x":${value}}`;
const PROTO = '"__proto__":{"status":"sold"},';
const ESCAPED = '{"name":"\\u0022\\\\\\u00e9\\ud83d\\udc36\u2028","categoryId":1}';
const FIELDS = Array.from({ length: 4_000 }, (_, index) => `"f${index}":1.5,`).join("");
const BRACKETS = "[".repeat(3_000);
const NAMES = '"name":1,'.repeat(4_000);

export const contentCases: readonly ConformanceCase[] = [
  ...rows(
    error(400, "invalid_query"),
    queries(
      words(`limit=0 limit=101 limit=1e1 limit=%2B5 limit=+5 limit=5+ limit= limit limit=5&limit=5
        li%6dit=0 limit=999999999999999999999999 status= status=Available status=sold%
        status=sold&status=sold after=01 after=9223372036854775808 after=1&after=2`),
    ),
  ),
  ...rows(
    list,
    queries([
      ...words(`limit=007 status=available&limit=5 after=-9223372036854775808 x=1&x=2
        constructor=1&__proto__=2 %zz=% &&=& ?`),
      "",
    ]),
  ),
  ...rows(
    error(400, "malformed_json"),
    [
      ["the body is nothing", ""],
      ["a long number with a leading zero", '{"name":"a","categoryId":09007199254740993}'],
      ["invalid UTF-8", '{"name":"\xff","categoryId":1}'],
      ["an encoded surrogate", '{"name":"\xed\xa0\x80","categoryId":1}'],
      ["a byte order mark", "\xef\xbb\xbf" + PET],
      ["a good pet around arrays 30,000 deep", petWith(nested(30_000))],
      ["the same with a long number", petWith(nested(30_000), "9007199254740993")],
      ["a good pet around arrays 1,000 deep", petWith(nested(1_000))],
      ["objects 10,000 deep", '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)],
    ].map(([name = "", body = ""]) => ["RFC 8259, 2, 8.1 and 9", name, post(body)] as const),
  ),
  ...rows(
    error(400, "invalid_pet"),
    [
      ...words(`"1.0" {"value":"1","isLosslessNumber":true} 1.5 1.0000000000000001 9007199254740991.4
        1e-1 9223372036854775808 -9223372036854775809 1e19 1e999999999
        1,"status":"gone"`).map((categoryId) => `{"name":"a","categoryId":${categoryId}}`),
      ...words(`null [] 9007199254740993 {} {"name":1.0,"categoryId":1}
        {"name":9007199254740993,"categoryId":1} {"name":"\\u0000","categoryId":1}
        {"name":"\\ud800","categoryId":9007199254740993}
        {"__proto__":{"name":"a","categoryId":1}}
        {"__proto__":{"name":"a","categoryId":9007199254740993}}`),
    ].map((body) => ["specification, NewPet", `the pet ${body} is wrong`, post(body)] as const),
  ),
  ...pets(
    "specification, NewPet; RFC 8259, 6",
    [
      ["9223372036854775807", "9223372036854775807"],
      ["9223372036854775807.000", "9223372036854775807"],
      ["922337203685477580.7e1", "9223372036854775807"],
      ["-9223372036854775808", "-9223372036854775808"],
      ["9007199254740993", "9007199254740993"],
      ["-0", "0"],
      ["-0.0e999999999", "0"],
      ["1.0", "1"],
      ["10e-1", "1"],
      ["1.5E+1", "15"],
      ["9E18", "9000000000000000000"],
    ].map(([written = "", stored = ""]) => [
      `the category ${written} is ${stored}`,
      `{"name":"a","categoryId":${written}}`,
      new RegExp(`"categoryId":${stored},`),
    ]),
  ),
  ...pets("specification, NewPet; docs/http.md, Creating a pet; RFC 8259, 4 and 8.1", [
    ["an empty name", '{"name":"","categoryId":1}', /"name":"",/],
    ["names of other scripts", '{"name":"Æ 🐶 犬","categoryId":1}', /"name":"Æ 🐶 犬"/],
    ["a name with escapes", ESCAPED, /"name":"\\"\\\\é🐶\u2028"/],
    ["white space around a pet", ' \r\n{"name":"5.e","categoryId":1}\t ', /"name":"5\.e"/],
    ["a status", '{"name":"a","categoryId":1,"status":"pending"}', /"status":"pending"/],
    ["no status", PET, /"status":"available"/],
    ["an id of the client's", '{"id":777777,"name":"a","categoryId":1}', /"id":(?!777777)\d+/],
    ["an unknown object", petWith('{"y":[1e5]}'), /,"status":"available"\}$/],
    ["4,000 unknown fields", `{${FIELDS}"name":"a","categoryId":1}`, /"name":"a"/],
    ["__proto__ beside good fields", petWith("1", "1", PROTO), /"status":"available"/],
    ["__proto__ and a fraction", petWith("1.5", "1", PROTO), /"status":"available"/],
    ["the last of 4,000 equal names counts", `{${NAMES}"name":"last","categoryId":1}`, /"last"/],
    ["the last of two, beside a fraction", petWith("1.5", "1", '"name":"b",'), /"name":"b"/],
    ["a name of 3,000 brackets", `{"name":"${BRACKETS}","categoryId":1}`, /\[{3000}/],
    ["3,000 of them after a quote", `{"name":"\\"${BRACKETS}","categoryId":1}`, /\[{3000}/],
    ["2,000 arrays beside one another", petWith(`[${"[],".repeat(1_999)}[]]`), /"name":"a"/],
    ["arrays 999 deep", petWith(nested(999)), /"name":"a"/],
  ]),
];
