import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { openSink } from "../../src/pets/sink.js";
import { newDatabase, petstore, petstoreReading } from "../support/command.js";

const CATEGORIES = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"];
const STATUSES = ["available", "pending", "sold"];
const NAMES = ["", "Rex", 'a "b", c', "two\nlines", "two\r\nlines", " padded ", "🐈", "=1+1", "\r"];

/** A database with so many pets of all kinds. */
async function filled(count: number): Promise<string> {
  const database = newDatabase();
  const lines = Array.from({ length: count }, (_, index) => {
    const name = JSON.stringify(NAMES[index % NAMES.length]);
    const category = CATEGORIES[index % CATEGORIES.length] ?? "0";
    return `{"name":${name},"categoryId":${category},"status":"${STATUSES[index % 3] ?? ""}"}\n`;
  });
  const imported = await petstoreReading(
    lines.join(""),
    ...["pets", "import", "-", "--database", database],
  );
  expect(imported.code).toBe(0);
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
      error: "",
    });
    const [one, other] = await Promise.all(
      [database, copy].map((each) => petstore("pets", "export", "--database", each)),
    );
    expect(other?.out).toBe(one?.out);
    expect(one?.out.split("\n")).toHaveLength(1_234);
    expect(one?.out).toContain('"categoryId":-9223372036854775808');
  });

  it("writes only pets with the status that is asked for", async () => {
    const database = await filled(300);
    const args = ["pets", "export", "--status", "sold", "--database", database];
    const { out } = await petstore(...args);
    expect(out.split("\n").filter((line) => line.endsWith('"sold"}'))).toHaveLength(100);
    expect(out.split("\n")).toHaveLength(100);
  });

  it("never writes over the database that it reads, by whatever name", async () => {
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

  it("writes only the heading of a store without pets", async () => {
    const database = await filled(0);
    const file = join(dirname(database), "pets.csv");
    const exported = await petstore("pets", "export", file, "--database", database);
    expect(exported).toEqual({ code: 0, out: "", error: "exported 0 pets" });
    expect(readFileSync(file, "utf8")).toBe("id,name,categoryId,status\n");
  });

  it("does not write over a file unless it is forced to, and leaves nothing unfinished", async () => {
    const database = await filled(3);
    const file = join(dirname(database), "pets.ndjson");
    writeFileSync(file, "mine");
    const refused = await petstore("pets", "export", file, "--database", database);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toBe(`petstore: ${file} is there already (--force writes over it)`);
    expect(readFileSync(file, "utf8")).toBe("mine");

    const forced = await petstore("pets", "export", file, "--force", "--database", database);
    expect(forced.code).toBe(0);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("unfinished"))).toEqual([]);
  });

  it("does not make a database, nor a file, where there is none", async () => {
    const database = newDatabase();
    const file = join(dirname(database), "pets.ndjson");
    const refused = await petstore("pets", "export", file, "--database", database);
    expect(refused.code).toBe(1);
    expect(refused.error).toContain("there is no database");
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it("replaces what a link leads to, and keeps the link", async () => {
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

  it("does not write over a link that leads nowhere unless it is forced to", async () => {
    const database = await filled(3);
    const [link, file] = [`${database}.link`, `${database}.ndjson`];
    symlinkSync(file, link);
    const refused = await petstore("pets", "export", link, "--database", database);
    expect(refused.error).toBe(`petstore: ${link} is there already (--force writes over it)`);
    expect(existsSync(file)).toBe(false);
  });

  it.skipIf(process.platform !== "linux")(
    "adds to the file behind what is only another name of it, as /dev/stdout is",
    async () => {
      const database = await filled(3);
      const file = join(dirname(database), "pets.ndjson");
      writeFileSync(file, "mine\n");
      const open = openSync(file, "a");
      const name = `/dev/fd/${String(open)}`;
      const exported = await petstore("pets", "export", name, "--database", database);
      closeSync(open);
      expect(exported).toMatchObject({ code: 0, error: "exported 3 pets" });
      expect(readFileSync(file, "utf8")).toMatch(/^mine\n(?:\{.*\}\n){3}$/);
    },
  );

  it.skipIf(process.platform !== "linux")("writes into a pipe, and leaves it there", async () => {
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

  it("refuses a folder at once, and leaves nothing there", async () => {
    const database = await filled(3);
    const folder = dirname(database);
    const before = readdirSync(folder);
    const refused = await petstore("pets", "export", folder, "--force", "--database", database);
    expect(refused).toEqual({
      code: 1,
      out: "",
      error: `petstore: cannot write ${folder}: it is a folder`,
    });
    expect(readdirSync(folder)).toEqual(before);
  });

  it("does not mix two that go to one name at once", async () => {
    const database = await filled(1_234);
    const file = join(dirname(database), "pets.ndjson");
    const args = ["pets", "export", file, "--force", "--database", database];
    const ran = await Promise.all([petstore(...args), petstore(...args)]);
    expect(ran.map(({ code }) => code)).toEqual([0, 0]);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(1_235);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("unfinished"))).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("leaves nothing when %s stops it", async (signal) => {
    const file = join(dirname(newDatabase()), "pets.ndjson");
    const sink = (await openSink(file, false, process.stdout))._unsafeUnwrap();
    expect((await sink.write("pet\n")).isOk()).toBe(true);
    process.emit(signal);
    expect(await sink.write("pet\n")).toEqual(err("the export was told to stop"));
    await sink.abandon();
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("is not published after %s", async (signal) => {
    const file = join(dirname(newDatabase()), "pets.ndjson");
    const sink = (await openSink(file, false, process.stdout))._unsafeUnwrap();
    expect((await sink.write("pet\n")).isOk()).toBe(true);
    process.emit(signal);
    expect(await sink.finish()).toEqual(err("the export was told to stop"));
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it("leaves nothing when it cannot be put under its name", async () => {
    const file = join(dirname(newDatabase()), "pets.ndjson");
    const sink = (await openSink(file, false, process.stdout))._unsafeUnwrap();
    mkdirSync(file);
    expect((await sink.finish()).isErr()).toBe(true);
    expect(readdirSync(dirname(file))).toEqual(["pets.ndjson"]);
  });
});

describe("the standard output of an export", () => {
  it("is waited for while it takes no more", async () => {
    const waiting: (() => void)[] = [];
    const stdout = new Writable({
      highWaterMark: 1,
      write: (_part, _encoding, done) => void waiting.push(done),
    });
    const sink = (await openSink("-", false, stdout))._unsafeUnwrap();
    let isWritten = false;
    const writing = sink.write("pet\n").then(() => (isWritten = true));
    await setImmediate();
    expect(isWritten).toBe(false);
    waiting.shift()?.();
    expect(await writing).toBe(true);
  });

  it("fails the export also when only its end cannot be written", async () => {
    const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const stdout = new Writable({
      write: (_part, _encoding, done) => void setImmediate().then(() => done(gone)),
    });
    const sink = (await openSink("-", false, stdout))._unsafeUnwrap();
    expect((await sink.write("pet\n")).isOk()).toBe(true);
    expect(await sink.finish()).toEqual(err("the output ended: its reader has gone"));
  });
});
