import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newDatabase, petstore } from "./support/command.js";

describe("an error", () => {
  it.each([
    [["keys", "issue", "--plan", "gold"], /--plan.*'gold'.*free, pro, business, enterprise/],
    [["keys", "issue"], /--plan/],
    [["keys", "issue", "--plan", "free", "--per-minute", "x"], /--per-minute.*whole number/],
    [["keys", "issue", "--plan", "free", "--expires", "2001-01-01"], /--expires.*in the future/],
    [["keys", "issue", "--plan", "free", "--label", "x".repeat(201)], /--label.*200 characters/],
    [["keys", "issue", "--plan", "enterprise"], /enterprise .*--per-minute and --per-day/],
    [["keys", "issue", "--plan", "enterprise", "--per-day", "9"], /--per-minute and --per-day/],
    [["keys", "issue", "--plan", "enterprise", "--per-minute", "0"], /--per-minute.*at least 1/],
    [["keys", "issue", "--plan", "pro", "--per-minute", "5"], /pro .*--per-minute and --per-day/],
    [["keys", "plan", "key_x", "gold"], /'gold'.*free, pro, business, enterprise/],
    [["keys", "plan", "key_x", "enterprise"], /--per-minute and --per-day/],
    [["keys", "rotate", "key_x", "--overlap", "31536001"], /--overlap.*31536000/],
    [["keys", "isue"], /unknown command 'isue'.*Did you mean issue/],
    [["help", "keys", "isue"], /unknown command 'isue'/],
    [["serve", "--prot", "1"], /unknown option '--prot'/],
    [["serve", "--port", "x"], /--port.*whole number/],
  ])("of %j is one line that begins with petstore: and names the option", async (args, named) => {
    const refused = await petstore(...args);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toMatch(/^petstore: [^\n]+$/);
    expect(refused.error).toMatch(named);
    expect(refused.error).not.toMatch(/error:|expiresAt|perMinute|perDay|overlapSeconds/);
  });
});

describe("help", () => {
  const keys = ["issue", "list", "show", "revoke", "rotate", "plan", "unban", "purge"];
  it.each([
    ...["", "help", "serve", "keys", "pets", "pets import", "pets export"],
    ...[...keys.map((name) => `keys ${name}`), "backup", "restore", "completion"],
  ])("of '%s' shows an example, and is also shown by `help`", async (names) => {
    const words = names.split(" ").filter(Boolean);
    const { code, out } = await petstore(...words, "--help");
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`\nExamples?:\n  petstore ${words.join(" ")}`));
    expect(await petstore("help", ...words)).toEqual({ code: 0, out, error: "" });
  });

  it("is shown, with exit code 1, when no command is given", async () => {
    const { code, out, error } = await petstore();
    expect(code).toBe(1);
    expect(out + error).toContain("Usage: petstore");
  });

  it("of keys issue and plan lists the plans with their limits, and says that a time is in UTC", async () => {
    for (const name of ["issue", "plan"]) {
      const { out } = await petstore("keys", name, "--help");
      expect(out).toMatch(/free +60 requests per minute, 1,000 per day/);
      expect(out).toMatch(/enterprise +.*--per-minute and --per-day/);
    }
    expect((await petstore("keys", "issue", "--help")).out).toMatch(/--expires .*UTC/s);
  });
});

it.each(["-V", "--version"])("%s prints the version of the package", async (option) => {
  const file = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(file) as { version: string };
  expect(await petstore(option)).toEqual({ code: 0, out: version, error: "" });
});

describe.each([
  [["keys", "issue", "--plan", "free"]],
  [["keys", "list"]],
  [["pets", "import", "-"]],
  [["pets", "export", "-"]],
  [["backup", "copy.db"]],
  [["serve", "--port", "0"]],
])("%j", (args) => {
  it.skipIf(args[0] === "serve")("refuses a database in memory", async () => {
    const refused = await petstore(...args, "--database", ":memory:");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toMatch(/^petstore: .*:memory:.* It must be a file: .*$/);
  });

  it("refuses a database without a name, also in the environment", async () => {
    vi.stubEnv("PETSTORE_DATABASE", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [named, ...options] of [
      ["--database", "--database", ""],
      ["--database", "--database", "  "],
      ["PETSTORE_DATABASE"],
    ]) {
      const refused = await petstore(...args, ...options);
      expect(refused).toMatchObject({ code: 1, out: "" });
      const line = `^petstore: .*${named}.* It must name a file\\.$`;
      expect(refused.error).toMatch(new RegExp(line));
    }
  });
});

it("keys issue says that it creates a new database", async () => {
  const database = newDatabase();
  const args = ["keys", "issue", "--plan", "free", "--database", database];
  expect((await petstore(...args)).error).toBe(`petstore: new database ${database}`);
  expect((await petstore(...args)).error).toBe("");
});
