import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { newDatabase, petstore, petstoreOn, petstoreReading } from "../support/command.js";

const CATEGORIES = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"];
const STATUSES = ["available", "pending", "sold"];
const NAMES = ["", "Rex", 'a "b", c', "two\nlines", "two\r\nlines", " padded ", "🐈", "=1+1", "\r"];

/** Creates a database with this many pets of all kinds. */
async function filled(count: number): Promise<string> {
  const database = newDatabase();
  const lines = Array.from({ length: count }, (_, index) => {
    const name = JSON.stringify(NAMES[index % NAMES.length]);
    const category = CATEGORIES[index % CATEGORIES.length] ?? "0";
    return `{"name":${name},"categoryId":${category},"status":"${STATUSES[index % 3] ?? ""}"}\n`;
  });
  const filling = await petstoreReading(
    lines.join(""),
    ...["pets", "import", "-", "--database", database],
  );
  expect(filling.code).toBe(0);
  return database;
}

describe("pets export", () => {
  it.each(["ndjson", "csv"])("writes %s that imports to the same pets", async (format) => {
    const database = await filled(1_234);
    const file = join(dirname(database), `pets.${format}`);
    const exported = await petstore("pets", "export", file, "--database", database);
    expect(exported).toEqual({ code: 0, out: "", error: "exported 1,234 pets" });

    const copy = newDatabase();
    expect(await petstore("pets", "import", file, "--database", copy)).toEqual({
      code: 0,
      out: "imported 1,234 pets",
      error: `petstore: new database ${copy}`,
    });
    const [one, other] = await Promise.all(
      [database, copy].map((each) => petstore("pets", "export", "--database", each)),
    );
    expect(other?.out).toBe(one?.out);
    expect(one?.out.split("\n")).toHaveLength(1_234);
    expect(one?.out).toContain('"categoryId":-9223372036854775808');
  });

  it("writes only pets with the given status", async () => {
    const database = await filled(300);
    const args = ["pets", "export", "--status", "sold", "--database", database];
    const { out } = await petstore(...args);
    expect(out.split("\n").filter((line) => line.endsWith('"sold"}'))).toHaveLength(100);
    expect(out.split("\n")).toHaveLength(100);
  });

  it("never overwrites the database that it reads, whatever its path", async () => {
    const database = await filled(3);
    const link = join(dirname(database), "link.ndjson");
    symlinkSync(database, link);
    for (const path of [database, `${database}-wal`, `${database}-journal`, link]) {
      const refused = await petstore("pets", "export", path, "--force", "--database", database);
      const error = `petstore: cannot write ${path}: it is a file of the database`;
      expect(refused).toEqual({ code: 1, out: "", error });
    }
    const { out } = await petstore("pets", "export", "--database", database);
    expect(out.split("\n")).toHaveLength(3);
  });

  it("writes only the heading if the store has no pets", async () => {
    const database = await filled(0);
    const file = join(dirname(database), "pets.csv");
    const exported = await petstore("pets", "export", file, "--database", database);
    expect(exported).toEqual({ code: 0, out: "", error: "exported 0 pets" });
    expect(readFileSync(file, "utf8")).toBe("id,name,categoryId,status\n");
  });

  it("does not overwrite a file without --force, and leaves no unfinished file", async () => {
    const database = await filled(3);
    const file = join(dirname(database), "pets.ndjson");
    writeFileSync(file, "mine");
    const refused = await petstore("pets", "export", file, "--database", database);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toBe(`petstore: ${file} already exists (--force replaces it)`);
    expect(readFileSync(file, "utf8")).toBe("mine");

    const forced = await petstore("pets", "export", file, "--force", "--database", database);
    expect(forced.code).toBe(0);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("unfinished"))).toEqual([]);
  });

  it("creates neither a file nor a database that does not exist", async () => {
    const database = newDatabase();
    const file = join(dirname(database), "pets.ndjson");
    const refused = await petstore("pets", "export", file, "--database", database);
    expect(refused.code).toBe(1);
    expect(refused.error).toContain("there is no database");
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it("replaces the target of a link, and keeps the link", async () => {
    const database = await filled(3);
    const folder = dirname(database);
    const [link, file] = [join(folder, "link.ndjson"), join(folder, "pets.ndjson")];
    writeFileSync(file, "mine");
    symlinkSync(file, link);
    const exported = await petstore("pets", "export", link, "--force", "--database", database);
    expect(exported.code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
  });

  it.skipIf(process.platform !== "linux")("writes to a pipe, and does not remove it", async () => {
    const database = await filled(3);
    const pipe = join(dirname(database), "pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "ignore"] });
    const [exported, read] = await Promise.all([
      petstore("pets", "export", pipe, "--force", "--database", database),
      text(reader.stdout),
    ]);
    expect(exported).toMatchObject({ code: 0, error: "exported 3 pets" });
    expect(read.split("\n")).toHaveLength(4);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  it("refuses a directory, and leaves no file in it", async () => {
    const database = await filled(3);
    const folder = dirname(database);
    const before = readdirSync(folder);
    const refused = await petstore("pets", "export", folder, "--force", "--database", database);
    expect(refused).toEqual({
      code: 1,
      out: "",
      error: `petstore: cannot write ${folder}: it is a directory`,
    });
    expect(readdirSync(folder)).toEqual(before);
  });

  it("does not mix two exports to one path at the same time", async () => {
    const database = await filled(1_234);
    const file = join(dirname(database), "pets.ndjson");
    const args = ["pets", "export", file, "--force", "--database", database];
    const ran = await Promise.all([petstore(...args), petstore(...args)]);
    expect(ran.map(({ code }) => code)).toEqual([0, 0]);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(1_235);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("unfinished"))).toEqual([]);
  });

  /** Exports this many pets to a file. `onProgress` is called whenever progress is shown. */
  async function exporting(count: number, onProgress: (file: string, shown: string) => void) {
    const database = await filled(count);
    const file = join(dirname(database), "pets.ndjson");
    const stderr = new Writable({
      write: (part: Buffer, _encoding, done) => {
        onProgress(file, part.toString("utf8"));
        done();
      },
    });
    const { code, error } = await petstoreOn(
      { stderr: Object.assign(stderr, { isTTY: true }) },
      ...["pets", "export", file, "--database", database],
    );
    const left = readdirSync(dirname(file)).filter((name) => name.startsWith("pets.ndjson"));
    return { code, error, left };
  }

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "leaves nothing when %s stops it",
    async (signal) => {
      const stopped = await exporting(250, (_, shown) => {
        if (shown.endsWith("K100 pets")) process.emit(signal);
      });
      expect(stopped).toMatchObject({ code: 1, left: [] });
      expect(stopped.error).toMatch(/^petstore: cannot write .*: it received a signal to stop$/);
    },
  );

  it("leaves no file when it cannot be renamed", async () => {
    const failed = await exporting(1, (file) => mkdirSync(file, { recursive: true }));
    expect(failed).toMatchObject({ code: 1, left: ["pets.ndjson"] });
    expect(failed.error).toMatch(/^petstore: cannot write .*pets\.ndjson: it is a directory$/);
  });
});

describe("an export to standard output", () => {
  it("keeps only a few pages in memory while the reader is slow", async () => {
    const database = await filled(2_000);
    let most = 0;
    const stdout = new Writable({
      write: (_part, _encoding, done) => {
        most = Math.max(most, stdout.writableLength);
        setImmediate(done);
      },
    });
    const exported = await petstoreOn({ stdout }, "pets", "export", "--database", database);
    expect(exported).toEqual({ code: 0, out: "", error: "exported 2,000 pets" });
    expect(most).toBeLessThan(5 * 100 * 80);
  });

  it("fails when it cannot be written", async () => {
    const database = await filled(3);
    const closed = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const stdout = new Writable({
      write: (_part, _encoding, done) => void setImmediate(() => done(closed)),
    });
    expect(await petstoreOn({ stdout }, "pets", "export", "--database", database)).toEqual({
      code: 1,
      out: "",
      error: "petstore: cannot write to standard output: the reader has closed the pipe",
    });
  });
});
