import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import {
  issueKey,
  newDatabase,
  petstore,
  petstoreOn,
  petstoreReading,
  type Ran,
} from "../support/command.js";
import { fillUpAfter } from "../support/filling-up.js";

/** Imports this text. Resolves to the outcome and the pets of the store. */
async function importing(
  text: string | Buffer | readonly Buffer[],
  ...args: readonly string[]
): Promise<Ran & { readonly database: string; readonly pets: readonly string[] }> {
  const database = newDatabase();
  const ran = await petstoreReading(text, "pets", "import", "-", "--database", database, ...args);
  const [created, ...others] = ran.error.split("\n");
  expect(created).toBe(`petstore: new database ${database}`);
  return { ...ran, error: others.join("\n"), database, pets: await petsIn(database) };
}

async function petsIn(database: string): Promise<readonly string[]> {
  const { out } = await petstore("pets", "export", "--database", database);
  return out.split("\n").filter((line) => line !== "");
}

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
const rex = '{"name":"Rex","categoryId":7}';

describe("pets import", () => {
  it("adds the pets of NDJSON in order, exactly", async () => {
    const text = lines(
      '{"name":"Rex","categoryId":9223372036854775807,"status":"sold"}',
      '{"id":99,"name":"a \\"b\\" \\n 🐈","categoryId":-9223372036854775808}',
      '  {"categoryId":1e2,"name":"","owner":"me"}\r',
    );
    const { code, out, error, pets } = await importing(text);
    expect({ code, out, error }).toEqual({ code: 0, out: "imported 3 pets", error: "" });
    expect(pets).toEqual([
      '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}',
      '{"id":2,"name":"a \\"b\\" \\n 🐈","categoryId":-9223372036854775808,"status":"available"}',
      '{"id":3,"name":"","categoryId":100,"status":"available"}',
    ]);
  });

  it("adds the pets of CSV by the names of the columns", async () => {
    const text = lines(
      "\uFEFFstatus,owner,name,categoryId\r",
      'sold,me,"a ""b"", c",9223372036854775807\r',
      ',,"two\r\nlines",-1\r',
      ",x,,0\r",
    );
    const { code, error, pets } = await importing(text, "--format", "csv");
    expect({ code, error }).toEqual({ code: 0, error: "" });
    expect(pets).toEqual([
      '{"id":1,"name":"a \\"b\\", c","categoryId":9223372036854775807,"status":"sold"}',
      '{"id":2,"name":"two\\r\\nlines","categoryId":-1,"status":"available"}',
      '{"id":3,"name":"","categoryId":0,"status":"available"}',
    ]);
  });

  it("ignores blank lines, and imports a last line without a line feed", async () => {
    const { code, pets } = await importing(`\n${rex}\n  \r\n\t\n\n${rex}`);
    expect({ code, pets: pets.length }).toEqual({ code: 0, pets: 2 });
  });

  it("reports bad lines by number, keeps them as they are, and imports the others", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.ndjson");
    const bad = ["{", '{"name":5}', `{"name":"${"x".repeat(2 ** 20)}","categoryId":1}`, "\uFEFF[]"];
    const text = lines(rex, bad[0] ?? "", rex, bad[1] ?? "", bad[2] ?? "", bad[3] ?? "", rex);
    const { code, out, error, pets } = await importing(text, "--rejects", rejects);
    expect({ code, out, pets: pets.length }).toEqual({
      code: 1,
      out: "imported 3 pets",
      pets: 3,
    });
    expect(error.split("\n")).toEqual([
      "line 2: It is not JSON in UTF-8.",
      expect.stringMatching(/^line 4: name must be .*; categoryId must be .*\.$/),
      "line 5: It is longer than 1024 KiB.",
      "line 6: It is not JSON in UTF-8.",
      `petstore: 4 lines could not be imported: see ${rejects}`,
    ]);
    // What is too long to hold is not kept.
    expect(readFileSync(rejects, "utf8")).toBe(lines(bad[0] ?? "", bad[1] ?? "", bad[3] ?? ""));
  });

  it("writes bad records of CSV below their heading, each as a record of its own", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.csv");
    const heading = "name,categoryId,status";
    const bad = ["a,1", '"b"c,1,sold', 'screen 5" wide,1,sold', "d,x,sold", '"f\n""\n",1,lost'];
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
      "line 11: It is not UTF-8.",
      "petstore: 8 lines could not be imp",
    ]);
    expect(readFileSync(rejects, "latin1")).toBe(lines(heading, ...bad, "\xff,1,"));
  });

  const wide = Array.from({ length: sized(100, 50_000, 50_000) }, () => 'screen 5" wide,1\n').join(
    "",
  );
  const many = sized(10_000, 600_000, 600_000);

  it("reads on after a line of quotes, and after lines with a quote out of place", async () => {
    const quotes = '"'.repeat(sized(10_000, 900_000, 900_000));
    const text = lines("name,categoryId", quotes) + wide + lines("pet,1");
    const { error, pets } = await importing(text, "--format", "csv");
    expect(error).toMatch(
      /^line 2: It has 1 field instead of 2\.\nline 3: A quote is out of place\./,
    );
    expect(pets).toHaveLength(1);
  });

  it("rejects all lines of a record in which a quote closes in the middle of a field", async () => {
    const text = lines("name,categoryId", '"pet,1', "Tom,2", '"Rex",3', "Tom,4");
    const { error, pets } = await importing(text, "--format", "csv");
    expect(error).toMatch(/^lines 2–4: A quote is out of place\.\n/);
    expect(pets).toHaveLength(1);
  });

  const NOT_CLOSED = "A quote is not closed";
  const LONG = "It is longer than 1024 KiB";

  it.each([
    ["a quote that is not closed", '"pet,1\nRex,2\nTom,3\n', NOT_CLOSED],
    ["one in the last line", '"pet,1', NOT_CLOSED],
    ["one before lines with pairs of quotes", `"pet,1\n${'""\n'.repeat(many / 3)}`, NOT_CLOSED],
    ["a record of more than 1 MiB", `"${"x".repeat(2 ** 20 + 1)}",1\nRex,2\n`, LONG],
    ["a line that has no end", Buffer.alloc(2 ** 22, " ,").toString(), LONG],
    ["a quoted field that has no end", `"${'""\n'.repeat(600_000)}`, LONG],
  ])("stops at %s: it is not clear where the record ends", async (_, text, reason) => {
    const start = lines("name,categoryId", "pet,1");
    const { code, out, error } = await importing(start + text, "--format", "csv");
    expect({ code, out, error }).toEqual({
      code: 1,
      out: "imported 1 pet",
      error: `petstore: the import stopped: Line 3 begins a record without a clear end. ${reason}. Everything before line 3 is done: resume with --from-line 3.`,
    });
  });

  it("does not read a quoted field that has no end to the end", async () => {
    let chunks = 0;
    function* endless() {
      yield Buffer.from('name,categoryId\n"');
      for (; chunks < 200; chunks += 1) yield Buffer.alloc(2 ** 16, "x\n");
    }
    const stdin = Readable.from(endless());
    const args = ["pets", "import", "-", "--format", "csv", "--database", newDatabase()];
    expect((await petstoreOn({ stdin }, ...args)).error).toContain(`${LONG}.`);
    expect(chunks).toBeLessThan(100);
  });

  it.each([
    `[${rex},${rex}]`,
    `\uFEFF\n [\n  {\n    "name": "Rex",\n    "categoryId": 7\n  }\n]\n`,
    "[",
  ])("stops at a JSON array, and says how to convert it: %j", async (text) => {
    const { code, out, error, pets } = await importing(text);
    expect({ code, out, pets }).toEqual({ code: 1, out: "imported 0 pets", pets: [] });
    expect(error).toMatch(
      /^petstore: the import stopped: The file is a JSON array.* jq -c '\.\[\]'/,
    );
    expect(error.split("\n")).toHaveLength(1);
  });

  it("lists at most 20 bad entries, and keeps all of them", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.ndjson");
    const bad = Array.from({ length: 5_000 }, (_, index) => `bad ${index}`);
    const { out, error } = await importing(lines(...bad, rex, "bad"), "--rejects", rejects);
    const listed = bad
      .slice(0, 20)
      .map((_, index) => `line ${index + 1}: It is not JSON in UTF-8.`);
    expect(out).toEqual("imported 1 pet");
    expect(error.split("\n")).toEqual([
      ...listed,
      "… and 4,981 more lines",
      `petstore: 5,001 lines could not be imported: see ${rejects}`,
    ]);
    expect(readFileSync(rejects, "utf8")).toBe(lines(...bad, "bad"));
  });

  it.each([1, 3, 1_000])(
    "reads lines and records that arrive in chunks of %i bytes",
    async (size) => {
      const ndjson = `\uFEFF${rex}\r\n\n  ${rex}\n{"name":"🐈\u2028","categoryId":1}`;
      const csv = '\uFEFFname,categoryId\r\n"a ""b""\r\n🐈\u2028",1\r\n\r\n"c",2';
      for (const [text, format, names] of [
        [ndjson, "ndjson", ["Rex", "Rex", "🐈\u2028"]],
        [csv, "csv", ['a "b"\r\n🐈\u2028', "c"]],
      ] as const) {
        const bytes = Buffer.from(text);
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const { error, pets } = await importing(pieces, "--format", format);
        expect(error).toBe("");
        expect(pets.map((pet) => (JSON.parse(pet) as { name: string }).name)).toEqual(names);
      }
    },
  );

  it.each([
    "",
    "name,status\n",
    "name;categoryId\n",
    '"name";"categoryId"\n',
    "name,categoryId,name\n",
    "status,name,categoryId,status\n",
  ])("refuses CSV that begins with %j", async (text) => {
    const { code, error } = await importing(text, "--format", "csv");
    const reason =
      "The first line must name the columns name and categoryId, and optionally status, each once, separated by commas";
    // To resume under such a heading would stop there again.
    expect({ code, error }).toEqual({
      code: 1,
      error: `petstore: the import stopped: ${reason}.`,
    });
  });

  it("imports the pets that the storage stores, and names the line to resume at when it fails", async () => {
    const database = newDatabase();
    const file = join(dirname(database), "pets.csv");
    const records = Array.from({ length: 25 }, (_, index) => `"pet\n${index}",${index}`);
    writeFileSync(file, lines("name,categoryId", ...records));
    await issueKey(database);
    const filling = fillUpAfter(database, 14);
    const stopped = await petstore("pets", "import", file, "--database", database);
    filling.end();
    expect(stopped).toMatchObject({ code: 1, out: "imported 14 pets" });
    expect(stopped.error).toMatch(
      /^petstore: the import stopped: .* resume with --from-line 30\.$/,
    );
    // The storage's own words.
    expect(stopped.error).toContain(
      "Adding a pet failed: a rule of the schema forbids it (SQLITE_",
    );
    expect(await petsIn(database)).toHaveLength(14);

    const args = ["pets", "import", file, "--from-line", "30", "--database", database];
    expect(await petstore(...args)).toEqual({
      code: 0,
      out: "imported 11 pets",
      error: "",
    });
    const names = (await petsIn(database)).map(
      (line) => (JSON.parse(line) as { name: string }).name,
    );
    expect(names).toEqual(records.map((_, index) => `pet\n${index}`));
  });

  it.each([
    [["nowhere.ndjson"], "cannot read nowhere.ndjson: it does not exist"],
    [["."], "cannot read .: it is a directory"],
    [["-", "--from-line", "0"], "It must be a whole number, at least 1."],
    [["-", "--format", "xml"], "Allowed choices are ndjson, csv."],
  ])("refuses %j with one line and exit code 1", async (args, reason) => {
    const refused = await petstore("pets", "import", ...args, "--database", newDatabase());
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
    expect(refused.error).toContain(reason);
    expect(refused.error.split("\n")).toHaveLength(1);
  });
});
