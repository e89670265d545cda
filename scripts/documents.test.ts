import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { createPetStore } from "@petstore/core";
import { keysOf, operations, windowNames } from "@petstore/core/facts";
import { limitNames } from "@petstore/core/internal";
import { createFetchHandler, openApiDocument, statusOf } from "@petstore/http-adapter";
import type { ResponseError } from "@petstore/http-adapter/internal";
import { describe, expect, it, vi } from "vitest";
import { readResults, withTables } from "../benchmarks/instrument/results.js";
import { newDatabase, petstore, serveHere } from "../packages/cli/test/support/command.js";
import { skipWithout } from "../packages/cli/test/support/command.js";
import { csvHeading } from "../packages/cli/src/pets/formats.js";
import { useBundled } from "./bundled-programs.js";
import { publishedNames } from "./packages.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const packageReadmes = publishedNames.map((name) => `packages/${name}/README.md`);
const documents = [
  ...["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  "benchmarks/RESULTS.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  ...packageReadmes,
];

const textOf = (document: string): string => readFileSync(join(root, document), "utf8");
const wordsOf = (...named: readonly string[]): number =>
  named.map(textOf).join(" ").trim().split(/\s+/).length;

it.each(documents)("%s links only to what exists, and shows examples as they are", (document) => {
  const text = textOf(document);
  expect(text, "the markers of a merge").not.toMatch(/(?:[<>] ?){7}/);
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !/^https?:/.test(link) && !exists(document, link))).toEqual([]);
  const shown = text.matchAll(/<!-- (examples\/\S+) -->\n\n```ts\n(.*?)```/gs);
  for (const [, file = "", code] of shown) expect(code).toBe(textOf(file));
});

it("documents are short enough", () => {
  expect(wordsOf("README.md")).toBeLessThanOrEqual(750);
  expect(wordsOf("ARCHITECTURE.md")).toBeLessThanOrEqual(1_100);
  expect(wordsOf(...packageReadmes)).toBeLessThanOrEqual(2_450);
});

/** A block of code, what stands before it, and the output that is shown behind it. */
const BLOCK = /(?:<!-- ([^\n]+) -->\n\n)?```(\w+)\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs;

it.for(["README.md", "SECURITY.md", "docs/embedding.md", "docs/http.md", "docs/versioning.md"])(
  "%s has no code that is not run: it is an example, has a test, or is a curl command with its output",
  async (document, { skip }) => {
    const { url, output } = await serveHere("--database", newDatabase(), "--first-key");
    const KEY = await vi.waitUntil(() => /pet_live_\w+/.exec(output())?.[0]);
    for (const [block, mark = "", , code = "", shown] of textOf(document).matchAll(BLOCK)) {
      const [, file] = /^(?:tested by )?(\S+)$/.exec(mark) ?? [];
      if (file !== undefined) {
        expect(existsSync(join(root, file)), block).toBe(true);
        continue;
      }
      expect(code, block).toContain("curl ");
      skipWithout("curl", skip);
      const command = code.replace(/^KEY=.*\n/, "").replace("http://127.0.0.1:3000/v1", url);
      const env = { ...process.env, KEY };
      const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
      expect(stdout).toBe(shown?.trimEnd());
    }
  },
);

describe("README.md", () => {
  const outputs = {
    "examples/embed.ts": "Pet 1 is available.",
    "examples/try.ts": "served, rate_limit_exceeded, served",
    "examples/client.ts":
      "Rex is in category 9007199254740993.\nserved, rate_limit_exceeded, served",
    "examples/first.ts": "Pet 1: 59 of 60 are left.",
  };
  const program = useBundled("documents", keysOf(outputs));

  it.each(keysOf(outputs))("%s prints what the documents say", async (example) => {
    const cwd = dirname(newDatabase());
    const { stdout } = await promisify(execFile)(process.execPath, [program(example)], { cwd });
    expect(stdout.trim()).toBe(outputs[example]);
  });
});

it("docs/operating.md lists the fields of --json", async () => {
  const [, section = ""] = /^### JSON\n(.*?)^#/ms.exec(textOf("docs/operating.md")) ?? [];
  const listed = [...section.matchAll(/^\| (`.+?) +\|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  );
  const issue = ["keys", "issue", "--plan", "pro", "--json", "--database", newDatabase()];
  const fields = Object.keys(JSON.parse((await petstore(...issue)).out) as object);
  expect(listed.toSorted()).toEqual(fields.toSorted());
});

it.each<[document: string, names: readonly string[]]>([
  ["docs/http.md", windowNames.map((name) => `per ${name}`)],
  ["packages/core/README.md", limitNames],
])("%s names each window", (document, names) => {
  expect(names.filter((name) => !textOf(document).includes(name))).toEqual([]);
});

it.each([
  ["docs/http.md", "docs/versioning.md"],
  ["packages/core/src/operations/pets.ts", "packages/client/src/operations.ts"],
])("%s and %s name the day of the removal of getPet", (...files) => {
  const { removal } = operations.getPet.deprecation;
  expect(files.filter((file) => !textOf(file).includes(removal))).toEqual([]);
});

it("docs/operating.md names every column of CSV", () => {
  const [, columns = ""] = /\*\*CSV\*\*(.*?)in any order/s.exec(textOf("docs/operating.md")) ?? [];
  const named = [...columns.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(["id", ...named].join()).toBe(csvHeading);
});

it("docs/storage.md names every table and error code of SQLite", async () => {
  const text = textOf("docs/storage.md");
  const [, sentence = ""] = /It creates (.*?) beside your/s.exec(text) ?? [];
  const filename = newDatabase();
  await petstore("migrate", "--database", filename);
  const database = new Database(filename);
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").pluck();
  const created = tables.all().filter((name) => !String(name).startsWith("sqlite_"));
  database.close();
  const named = [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(created.toSorted());

  for (const source of ["database/open-storage-error", "backup/backup-error"]) {
    const pattern = /(?<=^ {2}\| ")\w+|(?<=^ {2})\w+(?=: ")/gm;
    const codes = textOf(`packages/storage-sqlite/src/${source}.ts`).match(pattern);
    expect(codes?.length).toBeGreaterThan(10);
    expect(codes?.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  }
});

it("docs/http.md lists every error code with its status", () => {
  const rows = [...textOf("docs/http.md").matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\|/gm)];
  const codes = rows.map(([, code]) => code as ResponseError["code"]);
  const { code } = openApiDocument.components.schemas.Error.properties;
  expect(codes.toSorted()).toEqual(code.enum.toSorted());
  expect(rows.map(([, , status]) => Number(status))).toEqual(codes.map(statusOf));
});

it("docs/http.md lists every operation with its request and the status of its success", () => {
  const rows = textOf("docs/http.md").matchAll(/^\| `(\w+)` +\| `([A-Z]+ \S+)` +\| (\d+)/gm);
  expect([...rows].map(([, ...row]) => row)).toEqual(
    Object.entries(operations).map(([name, { method, path, success }]) => {
      return [name, `${method} ${path}`, String(success)];
    }),
  );
});

it("docs/http.md names every parameter of the list and every field of a pet", () => {
  const { paths, components } = openApiDocument;
  const [table = ""] = /\| Parameter .*?\n\n/s.exec(textOf("docs/http.md")) ?? [];
  const parameters = paths["/pets"].get.parameters.map(({ name }) => name);
  expect(table.match(/(?<=^\| `)\w+/gm)?.sort()).toEqual(parameters.sort());
  const named = Object.keys(components.schemas.Pet.properties);
  expect(named.filter((name) => !textOf("docs/http.md").includes(`\`${name}\``))).toEqual([]);
});

it("docs/embedding.md lists the headers that CORS exposes, the members of `keys`, and every event, and names no operation that is none", async () => {
  const document = textOf("docs/embedding.md");
  const store = createPetStore();
  const handle = createFetchHandler(store, { cors: { origins: "*" } });
  const { headers } = await handle(new Request("http://pets.test/v1/pets"));
  const namesIn = (text = "") => [...text.matchAll(/`([\w-]+)[`(]/g)].map(([, name = ""]) => name);
  const exposed = namesIn(/(?<=has to\s+expose ).*?\.\n/s.exec(document)?.[0]);
  expect(exposed.join(", ")).toBe(headers.get("Access-Control-Expose-Headers"));
  const columnOf = (heading: string) => {
    const table = document.split(`\n## ${heading}\n`)[1]?.split("\n\n")[1];
    return namesIn(table?.replace(/^(\|[^|]*\|).*$/gm, "$1"));
  };
  expect(columnOf("Keys").toSorted()).toEqual(Object.keys(store.keys).toSorted());
  const calls = [...document.matchAll(/^- `(\w+)\(.* resolves/gm)].map(([, name]) => name);
  expect(calls.length).toBeGreaterThan(1);
  expect(Object.keys(store.trusted)).toEqual(expect.arrayContaining(calls));
  const types = textOf("packages/core/src/events/events.ts").match(/^ {2}\w+(?=: true,$)/gm);
  expect(types?.length).toBeGreaterThan(5);
  expect(columnOf("Events").toSorted()).toEqual(types?.map((type) => type.trim()).toSorted());
});

it("benchmarks/RESULTS.md and docs/performance.md have the figures of benchmarks/results.json", () => {
  const results = readResults(join(root, "benchmarks/results.json"));
  const page = textOf("benchmarks/RESULTS.md");
  expect(withTables(page, results)).toBe(page);
  const rows = [...textOf("docs/performance.md").matchAll(/^\| (?:A mounted|`petstore s).*/gm)];
  const shown = rows.map(([row]) => row.match(/\d+\.\d/g));
  const ratioOf = (cell: string) => Number(/\(([\d.]+);/.exec(cell)?.[1]).toFixed(1);
  const measured = ["pet store", "petstore serve"].map((server) =>
    results["http"]?.rows
      .find(([name]) => name === server)
      ?.slice(1)
      .map(ratioOf),
  );
  expect(shown).toEqual(measured);
});

const files = readdirSync(join(root, "packages"), { encoding: "utf8", recursive: true });

it("benchmarks leave out only what a source has", () => {
  const cases = ["http", "storage"].map((name) => `benchmarks/cases/optimisations/${name}.js`);
  const pattern = /(?:buildWithout\([^,]+,\s+|^const [A-Z_]+ = )"(.+?)"[,;)]/gm;
  const left = [...cases.map(textOf).join("").matchAll(pattern)].map(([, text = ""]) => text);
  const sources = files.filter((name) => /\/src\/.+\.ts$/.test(name));
  const text = sources.map((name) => textOf(`packages/${name}`)).join("");
  expect(left.filter((each) => !text.includes(each))).toEqual([]);
  expect(left).toHaveLength(6);
});

it("documents name only sources and tests that exist", () => {
  const named = documents.flatMap((document) => [
    ...textOf(document).matchAll(/`([\w-]+\/(?:src|test)\/[\w/.-]+|[\w-]+\.test\.ts)`/g),
  ]);
  const known = files.map((file) => `/${file}`);
  const missing = named.filter(([, name]) => !known.some((file) => file.endsWith(`/${name}`)));
  expect(missing.map(([name]) => name)).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

/** Whether a relative link leads to a file and, behind a `#`, to one of its headings. */
function exists(document: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? document : join(dirname(document), path);
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headingsOf(textOf(target)).includes(heading);
}

/** The anchors that GitHub gives to headings. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
