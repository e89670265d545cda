import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { namesIn, newDatabase, petsIn, petstoreOn, withDatabase } from "../support/command.js";
import { fillUpAfter, lines } from "../support/command.js";
import { readLines } from "../../src/open-file.js";
import { readEntries, type Entry } from "../../src/pets/read-pets.js";

async function importing(text: string | Buffer | readonly Buffer[], ...args: readonly string[]) {
  const { database, read } = withDatabase();
  const ran = await read(text, "pets", "import", "-", ...args);
  const [created, ...others] = ran.error.split("\n");
  expect(created).toBe(`petstore: new database ${database}`);
  return { ...ran, error: others.join("\n"), pets: await petsIn(database) };
}

const rex = '{"name":"Rex","categoryId":7}';

const NDJSON = `\uFEFF
{"name":"Rex","categoryId":9223372036854775807,"status":"sold"}
  \r\n\t
{"id":99,"name":"a \\"b\\" \\n 🐈\u2028","categoryId":-9223372036854775808}
  {"categoryId":1e2,"name":"","owner":"me"}\r
${rex}`;

const LAST = '{"id":4,"name":"Rex","categoryId":7,"status":"available"}';

const NDJSON_PETS = [
  '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}',
  '{"id":2,"name":"a \\"b\\" \\n 🐈\u2028","categoryId":-9223372036854775808,"status":"available"}',
  '{"id":3,"name":"","categoryId":100,"status":"available"}',
  LAST,
];

const CSV = `\uFEFFstatus,owner,name,categoryId\r
sold,me,"a ""b"", 🐈\u2028",9223372036854775807\r
\r\n \t
,,"two\r\nlines",-1\r
,x,,0
,,Rex,7`;

const CSV_PETS = [
  '{"id":1,"name":"a \\"b\\", 🐈\u2028","categoryId":9223372036854775807,"status":"sold"}',
  '{"id":2,"name":"two\\r\\nlines","categoryId":-1,"status":"available"}',
  '{"id":3,"name":"","categoryId":0,"status":"available"}',
  LAST,
];

it.each([
  ["ndjson", NDJSON, "", NDJSON_PETS],
  ["csv", CSV, expect.stringContaining("no line break") as string, CSV_PETS],
])(
  "adds the pets of %s, in order, in chunks of any size; of CSV by the names of the columns",
  async (format, text, error, pets) => {
    const bytes = Buffer.from(text);
    for (const size of [1, 3, 1_000]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const imported = { code: 0, out: "imported 4 pets", error, pets };
      expect(await importing(chunks, "--format", format)).toEqual(imported);
    }
  },
);

it.each([
  ["ndjson", '{"name":"Жa","categoryId":12}\r\n{"name":"b","categoryId":34}\r\n'],
  ["csv", 'categoryId,name\r\n12,"Ж""\r\na"\r\n34,"b"\r\n'],
  ["csv", "name,categoryId\r\nb,34\r\n"],
])("takes no part of a record of %s for a whole one, cut anywhere", async (format, text) => {
  const bytes = Buffer.from(text);
  const whole = (await importing(bytes, "--format", format)).pets;
  for (let length = bytes.length - sized(20, 99, 99); length < bytes.length; length += 1) {
    const cut = bytes.subarray(0, Math.max(0, length));
    const { code, error, pets } = await importing(cut, "--format", format);
    if (!pets.every((pet, index) => pet === whole[index])) expect(error).toContain("no line break");
    if (cut.at(-1) === 0x0d && length > bytes.length - 2)
      expect({ code, error, pets }).toEqual({ code: 0, error: "", pets: whole });
  }
});

it("reports at most 20 bad lines by number, keeps all as they are, and imports the others", async () => {
  const rejects = join(dirname(newDatabase()), "rejects.ndjson");
  const longest = "x".repeat(2 ** 20);
  const bad = Array.from({ length: 5_000 }, (_, index) => `bad ${index}`);
  const text = lines("[7", rex, rex, '{"name":5}', `[${longest}`, "\uFEFF[]", ...bad, rex, longest);
  const { code, out, error, pets } = await importing(text, "--rejects", rejects);
  expect({ code, out, pets: pets.length }).toEqual({ code: 1, out: "imported 3 pets", pets: 3 });
  expect(error.split("\n")).toEqual([
    "line 1: It is not JSON in UTF-8.",
    expect.stringMatching(/^line 4: name must be .*; categoryId must be .*\.$/),
    "line 5: It is longer than 1024 KiB.",
    ...Array.from({ length: 17 }, (_, index) => `line ${index + 6}: It is not JSON in UTF-8.`),
    "… and 4,985 more lines",
    `petstore: 5,005 lines could not be imported: see ${rejects}`,
  ]);
  const kept = lines("[7", '{"name":5}', "\uFEFF[]", ...bad, longest);
  expect(readFileSync(rejects, "utf8") === kept).toBe(true);
});

it("writes bad records of CSV below their heading, each as a record of its own", async () => {
  const rejects = join(dirname(newDatabase()), "rejects.csv");
  const heading = "name,categoryId,status";
  const bad = [
    ...["a,1", '"b"c,1,sold', 'screen 5" wide,1,sold', "d,x,sold", '"f\n""\n",1,lost'],
    ...['"pet,1\nTom,2\n"Rex",3', '"'.repeat(sized(10_000, 900_000, 900_000))],
  ];
  const text = Buffer.concat([
    Buffer.from(lines(heading, "ok,1,sold", ...bad, "ok,2,sold")),
    Buffer.from([0xff, 0x2c, 0x31, 0x2c, 0x0a]),
  ]);
  const { code, error, pets } = await importing(text, "--format", "csv", "--rejects", rejects);
  expect({ code, pets: pets.length }).toEqual({ code: 1, pets: 2 });
  expect(error.split("\n").map((line) => line.slice(0, 34))).toEqual([
    "line 3: It has 2 fields instead of",
    "line 4: A quote is out of place.",
    "line 5: A quote is out of place.",
    "line 6: categoryId must be an int6",
    "lines 7–9: status must be one of a",
    "lines 10–12: A quote is out of pla",
    "line 13: It has 1 field instead of",
    "line 15: It is not UTF-8.",
    "petstore: 12 lines could not be im",
  ]);
  expect(readFileSync(rejects, "latin1")).toBe(lines(heading, ...bad, "\xff,1,"));
});

const NOT_CLOSED = "A quote is not closed";
const LONG = "It is longer than 1024 KiB";

it.each([
  ["a quote that is not closed", '"pet,1\nRex,2\nTom,3\n', NOT_CLOSED],
  ["one in the last line", '"pet,1', NOT_CLOSED],
  ["one before pairs", `"pet,1\n${'""\n'.repeat(sized(3_000, 200_000, 200_000))}`, NOT_CLOSED],
  ["a record of more than 1 MiB", `"${"x".repeat(2 ** 20 + 1)}",1\nRex,2\n`, LONG],
  ["a line that has no end", Buffer.alloc(2 ** 22, " ,").toString(), LONG],
])("stops at %s: it is not clear where the record ends", async (_, text, reason) => {
  const start = lines("name,categoryId", "pet,1");
  const error = `petstore: the import stopped: Line 3 begins a record without a clear end. ${reason}. Everything before line 3 is done: resume with --from-line 3.`;
  const stopped = { code: 1, out: "imported 1 pet", error };
  expect(await importing(start + text, "--format", "csv")).toMatchObject(stopped);
});

it("does not read a quoted field that has no end to the end", async () => {
  let chunks = 0;
  function* endless() {
    yield Buffer.from('name,categoryId\n"');
    for (; chunks < 200; chunks += 1) yield Buffer.alloc(2 ** 16, "x\n");
  }
  const args = ["pets", "import", "-", "--format", "csv", "--database", newDatabase()];
  const stdin = Readable.from(endless());
  expect((await petstoreOn({ stdin }, ...args)).error).toContain(`${LONG}.`);
  expect(chunks).toBeLessThan(100);
});

it("keeps of a line that has no end only what shows that it is too long", async () => {
  let last: readonly Buffer[] = [];
  const chunks = Readable.from(Array<Buffer>(9).fill(Buffer.alloc(100)));
  for await (const lines of readLines(chunks, 10)) last = lines;
  expect(last.map(({ length }) => length)).toEqual([11]);
});

it.each([
  ["ndjson", [`[{}]\n${rex}\n`, rex]],
  ["csv", ["name,categoryId\nRex,7\n", "Rex,7\n"]],
] as const)("passes each record of %s on once, and reads a heading once", async (format, texts) => {
  const chunks = Readable.from(texts.map((text) => Buffer.from(text)));
  const read: Entry[] = [];
  for await (const entries of readEntries(format, chunks, () => undefined)) read.push(...entries);
  expect(read.flatMap(({ first, pet }) => (pet.isOk() ? first : []))).toEqual([2, 3]);
  expect(new Set(read.map(({ headingHash }) => headingHash)).size).toBe(1);
});

const WRONG = { ndjson: "This is a JSON array", csv: "The first line must name the columns" };

it.each([
  ["ndjson", `[${rex},\n${rex}]`],
  ["ndjson", `\uFEFF\n [\n  {\n    "name": "Rex",\n    "categoryId": 7\n  }\n]\n`],
  ["csv", ""],
  ["csv", "name,status\n"],
  ["csv", "name;categoryId\n"],
  ["csv", '"name";"categoryId"\n'],
  ["csv", "name,categoryId,name\n"],
  ["csv", "status,name,categoryId,status\n"],
] as const)("stops at %s that begins with %j", async (format, text) => {
  const error: unknown = expect.stringMatching(`^petstore: the import stopped: ${WRONG[format]}`);
  const stopped = { code: 1, out: "imported 0 pets", error, pets: [] };
  expect(await importing(text, "--format", format)).toEqual(stopped);
});

it("imports the pets that the storage stores, and names the line to resume at when it fails", async () => {
  const { database, run } = withDatabase();
  const file = join(dirname(database), "pets.csv");
  const records = Array.from({ length: 25 }, (_, index) => `"pet\n${index}",${index}`);
  writeFileSync(file, lines("name,categoryId", ...records));
  await run("keys", "issue", "--plan", "free");
  const filling = fillUpAfter(database, 14);
  const stopped = await run("pets", "import", file);
  filling.end();
  expect(stopped).toMatchObject({ code: 1, out: "imported 14 pets" });
  expect(stopped.error).toMatch(/: Adding a pet failed: .*\(SQLITE_.* with --from-line 30\.$/);
  expect(await petsIn(database)).toHaveLength(14);
  const resumed = await run("pets", "import", file, "--from-line", "30");
  expect(resumed).toEqual({ code: 0, out: "imported 11 pets", error: "" });
  expect(await namesIn(database)).toEqual(records.map((_, index) => `pet\n${index}`));
});
