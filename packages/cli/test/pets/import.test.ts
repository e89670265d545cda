import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { imported, newDatabase, petstore, petstoreReading, type Ran } from "../support/command.js";
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
    expect({ code, out, error }).toEqual({ code: 0, out: imported("imported 3 pets"), error: "" });
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
      out: imported("imported 3 pets"),
      pets: 3,
    });
    expect(error.split("\n")).toEqual([
      "line 2: It is not JSON in UTF-8.",
      expect.stringMatching(/^line 4: name must be .*; categoryId must be .*\.$/),
      "line 5: It is longer than 1024 KiB.",
      "line 6: It is not JSON in UTF-8.",
      `petstore: 4 lines could not be imported: 3 of them written to ${rejects}`,
    ]);
    // What is too long to hold is not kept.
    expect(readFileSync(rejects, "utf8")).toBe(lines(bad[0] ?? "", bad[1] ?? "", bad[3] ?? ""));
  });

  it("writes bad records of CSV below their heading, each as a record of its own", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.csv");
    const heading = "name,categoryId,status";
    const bad = ["a,1", '"b"c,1,sold', "d,x,sold", "e,1,lost", '"f\n""\n",1,lost'];
    const open = ['"open,1,sold', "lost,3,", "lost,4,pending"];
    const text = Buffer.concat([
      Buffer.from(lines(heading, "ok,1,sold", ...bad, "ok,2,sold")),
      Buffer.from([0xff, 0x2c, 0x31, 0x2c, 0x0a]),
      Buffer.from(lines(...open)),
    ]);
    const args = ["--format", "csv", "--rejects", rejects];
    const { code, error, pets } = await importing(text, ...args);
    expect(code).toBe(1);
    expect(error.split("\n").map((line) => line.slice(0, 34))).toEqual([
      "line 3: It has 2 fields instead of",
      "line 4: A quote is out of place.",
      "line 5: categoryId must be an int6",
      "line 6: status must be one of avai",
      "lines 7–9: status must be one of a",
      "line 11: It is not UTF-8.",
      "lines 12–14: A quote is not closed",
      "petstore: 11 lines could not be im",
    ]);
    expect(pets).toHaveLength(2);
    const kept = readFileSync(rejects, "latin1");
    expect(kept).toBe(lines(heading, ...bad, "\xff,1,", ...open));
  });

  it("rejects only the line with a quote in the middle of a CSV field", async () => {
    const good = Array.from({ length: 2_000 }, (_, index) => `pet,${index}`);
    const text = lines("name,categoryId", 'screen 5" wide,1', ...good, 'screen 7" wide,2', "pet,3");
    const { code, error, pets } = await importing(text, "--format", "csv");
    expect({ code, pets: pets.length }).toEqual({ code: 1, pets: 2_001 });
    expect(error.split("\n")).toEqual([
      "line 2: A quote is out of place.",
      "line 2003: A quote is out of place.",
      "petstore: 2 lines could not be imported",
    ]);
  });

  const quotes = sized(10_000, 900_000, 900_000);

  it.each([quotes, quotes + 1])("loses no line of CSV after one of %i quotes", async (count) => {
    const rejects = join(dirname(newDatabase()), "rejects.csv");
    const misplaced = Array.from({ length: sized(100, 50_000, 50_000) }, () => 'screen 5" wide,1');
    const bad = lines("name,categoryId", '"'.repeat(count), ...misplaced);
    const args = ["--format", "csv", "--rejects", rejects];
    const { pets } = await importing(bad + lines("pet,1"), ...args);
    expect(pets).toHaveLength(1);
    expect(readFileSync(rejects, "utf8") === bad).toBe(true);
  });

  it("rejects the lines after a CSV quote that is not closed, and keeps them", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.csv");
    const open = ['"pet,1', ...Array.from({ length: 12_000 }, () => `${"x".repeat(100)},1`)];
    const text = lines("name,categoryId", "pet,1", ...open);
    const args = ["--format", "csv", "--rejects", rejects];
    const { code, error, pets } = await importing(text, ...args);
    expect({ code, pets: pets.length }).toEqual({ code: 1, pets: 1 });
    expect(error.split("\n")[0]).toBe("lines 3–12003: A quote is not closed.");
    expect(readFileSync(rejects, "utf8") === lines("name,categoryId", ...open)).toBe(true);
  });

  it("rejects a CSV record that is too long, and keeps it", async () => {
    const rejects = join(dirname(newDatabase()), "rejects.csv");
    const long = `"${"x".repeat(2 ** 20)}",1`;
    const text = lines("name,categoryId", long, "pet,1");
    const { error, pets } = await importing(text, "--format", "csv", "--rejects", rejects);
    expect(error.split("\n")[0]).toBe("line 2: It is longer than 1024 KiB.");
    expect(pets).toHaveLength(1);
    expect(readFileSync(rejects, "utf8") === lines("name,categoryId", long)).toBe(true);
  });

  it.each(['"', ","])("stops at a CSV record that has no end: %s", async (text) => {
    const start = lines("name,categoryId", "pet,1");
    const endless = Array.from({ length: 5 }, () => Buffer.alloc(2 ** 20, ` ${text}`));
    const { code, error } = await importing([Buffer.from(start), ...endless], "--format", "csv");
    expect({ code, error }).toEqual({
      code: 1,
      error:
        "petstore: the import stopped: Reading failed: a record is longer than 4 MiB, perhaps because a quote is not closed. Everything before line 3 is done: resume with --from-line 3.",
    });
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
    expect(out).toEqual(imported("imported 1 pet"));
    expect(error.split("\n")).toEqual([
      ...listed,
      "… and 4,981 more lines",
      `petstore: 5,001 lines could not be imported: written to ${rejects}`,
    ]);
    expect(readFileSync(rejects, "utf8")).toBe(lines(...bad, "bad"));
  });

  it.each([1, 3, 1_000])(
    "reads lines and records that arrive in chunks of %i bytes",
    async (size) => {
      const ndjson = `\uFEFF${rex}\r\n\n  ${rex}\n{"name":"🐈","categoryId":1}`;
      const csv = '\uFEFFname,categoryId\r\n"a ""b""\r\n🐈",1\r\n\r\n"c",2';
      for (const [text, format, names] of [
        [ndjson, "ndjson", ["Rex", "Rex", "🐈"]],
        [csv, "csv", ['a "b"\r\n🐈', "c"]],
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
    ["", "There is no heading."],
    ["name,status\n", "The heading has no column categoryId. Columns are separated by commas."],
    [
      "name;categoryId\n",
      "The heading has no column name, categoryId. Columns are separated by commas.",
    ],
    [
      '"name";"categoryId"\n',
      "The heading cannot be read. A quote is out of place. Columns are separated by commas.",
    ],
    ["name,categoryId,name\n", "The heading repeats the column name."],
    ["status,name,categoryId,status\n", "The heading repeats the column status."],
  ])("refuses CSV that begins with %j", async (text, reason) => {
    const { code, error } = await importing(text, "--format", "csv");
    // To resume under such a heading would stop there again.
    expect({ code, error }).toEqual({
      code: 1,
      error: `petstore: the import stopped: ${reason}`,
    });
  });

  it("imports the pets that the storage stores, and names the line to resume at when it fails", async () => {
    const database = newDatabase();
    const file = join(dirname(database), "pets.csv");
    const records = Array.from({ length: 25 }, (_, index) => `"pet\n${index}",${index}`);
    writeFileSync(file, lines("name,categoryId", ...records));
    await petstore("keys", "issue", "--plan", "free", "--database", database);
    const filling = fillUpAfter(database, 14);
    const stopped = await petstore("pets", "import", file, "--database", database);
    filling.end();
    expect(stopped).toMatchObject({ code: 1, out: imported("imported 14 pets") });
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
      out: imported("imported 11 pets"),
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
    [
      ["-", "--rejects", "package.json"],
      "cannot write rejected lines to package.json: it already exists",
    ],
  ])("refuses %j with one line and exit code 1", async (args, reason) => {
    const refused = await petstore("pets", "import", ...args, "--database", newDatabase());
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
    expect(refused.error).toContain(reason);
    expect(refused.error.split("\n")).toHaveLength(1);
  });
});
