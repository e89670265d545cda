import { writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startCommand, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore, petstoreReading } from "./support/command.js";

useBuiltPetstore();

/** Labels of which JSON keeps every character, and some readers of lines take one for a line break. */
const LABELS = ["two\u2028lines", "two\u2029lines", "a\u0085b\u000bc\u000cd", "🐈"];

describe("keys issue", () => {
  it("prints the secret as text, or one JSON object with the id, the secret and the plan, and says that it creates a new database", async () => {
    const database = newDatabase();
    const asText = () => petstore("keys", "issue", "--plan", "pro", "--database", database);
    const out: unknown = expect.stringMatching(/pro plan[^]*pet_live_[0-9A-Za-z]{36}/);
    expect(await asText()).toEqual({ code: 0, out, error: `petstore: new database ${database}` });
    expect(await asText()).toEqual({ code: 0, out, error: "" });
    expect(await issueKey(database, "--label", "acme", "--expires", "2099-01-01")).toMatchObject({
      id: expect.stringMatching(/^key_/) as string,
      secret: expect.stringMatching(/^pet_live_[0-9A-Za-z]{36}$/) as string,
      plan: "free",
      label: "acme",
      limits: { perMinute: 60, perDay: 1_000 },
      expiresAt: "2099-01-01T00:00:00.000Z",
    });
    const own = ["--plan", "enterprise", "--per-minute", "7", "--per-day", "70"];
    expect(await issueKey(database, ...own)).toMatchObject({
      limits: { perMinute: 7, perDay: 70 },
    });
  });

  it.each([
    ["2096-02-29", "2096-02-29T00:00:00.000Z"],
    ["2031-01-01T10:30", "2031-01-01T10:30:00.000Z"],
    ["2031-01-01T10:30:15.5", "2031-01-01T10:30:15.500Z"],
    ["2031-01-01T10:30:15Z", "2031-01-01T10:30:15.000Z"],
    ["2031-01-01T00:30+02:00", "2030-12-31T22:30:00.000Z"],
    ["tomorrow"],
    ["2031-02-29T00:00:00Z"],
    ["2031-01-01T25:00Z"],
    ["2031-01-01 of next year"],
  ])("reads --expires %s wherever it runs, or refuses it", async (text, expiresAt?: string) => {
    vi.stubEnv("TZ", "Asia/Tokyo");
    onTestFinished(() => void vi.unstubAllEnvs());
    const options = ["--plan", "free", "--expires", text, "--database", newDatabase(), "--json"];
    const { code, out, error } = await petstore("keys", "issue", ...options);
    if (expiresAt !== undefined) expect(JSON.parse(out)).toMatchObject({ expiresAt });
    else {
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(error).toMatch(/^petstore: [^\n]*ISO 8601[^\n]*$/);
    }
  });
});

describe("the other commands of keys", () => {
  it("rotate, change the plan of, unban and revoke a key, and print it as JSON", async () => {
    const database = newDatabase();
    const { id, secret } = await issueKey(database);
    const run = async (verb: string, ...options: readonly string[]): Promise<unknown> => {
      const args = ["keys", verb, id, ...options, "--database", database, "--json"];
      return JSON.parse((await petstore(...args)).out);
    };
    const rotated = await run("rotate", "--overlap", "60");
    expect(rotated).toMatchObject({ id, secret: expect.stringMatching(/^pet_live_/) as string });
    expect(rotated).not.toMatchObject({ secret });
    const secrets = [{ state: "current" }, { state: "replaced" }];
    expect(await run("plan", "business")).toMatchObject({ plan: "business", secrets });
    expect(await run("unban")).toMatchObject({ id, bannedUntil: null });
    expect(await run("revoke")).toMatchObject({ id, revokedAt: expect.any(String) as string });
    const text = (await petstore("keys", "show", id, "--database", database)).out;
    expect(text).toMatch(/\nSTATE +revoked/);
    expect(text.match(/SECRET +pet_live_\w{4}… {2}refused since .* UTC/g)).toHaveLength(2);
    const refused = { state: "refused", at: expect.any(String) as string };
    const shown = { state: "revoked", secrets: [refused, refused] };
    expect(await run("show")).toMatchObject(shown);
  });

  it("purge keys that ended longer ago than --older-than", async () => {
    const database = newDatabase();
    const { id } = await issueKey(database);
    const kept = await issueKey(database);
    await petstore("keys", "revoke", id, "--database", database);
    const purge = (age: string) =>
      petstore("keys", "purge", "--older-than", age, "--database", database);
    expect((await purge("90d")).out).toBe("purged 0 keys");
    expect((await purge("0s")).out).toBe("purged 1 key");
    const { out } = await petstore("keys", "list", "--database", database, "--json");
    expect(JSON.parse(out)).toMatchObject([{ id: kept.id }]);
    for (const age of ["90", "d", "-1d", "1y", "999999999d"]) {
      expect((await purge(age)).error).toMatch(/^petstore: .*--older-than.* such as 90d/);
    }
  });

  it("say in one line when there is no such key, or no database, which they do not create, or when the file is none", async () => {
    const database = newDatabase();
    const run = (...args: readonly string[]) => petstore("keys", ...args, "--database", database);
    const refused = (error: unknown) => ({ code: 1, out: "", error });
    const missing = refused(`petstore: there is no database ${database}`);
    expect([await run("list"), await run("list")]).toEqual([missing, missing]);
    await issueKey(database);
    for (const verb of ["show", "revoke", "rotate", "unban"])
      expect(await run(verb, "key_x"), verb).toEqual(refused("petstore: No API key has this id."));
    writeFileSync(database, "not a database, but long enough to look at ".repeat(100));
    const wrong: unknown = expect.stringMatching(/^petstore: cannot use the database \S+: .+$/);
    expect(await run("list")).toEqual(refused(wrong));
  });
});

const DIGEST = /(?<="digest":")[^"]+/;

const withDigestOf = (line: string, first: string) =>
  line.replace(DIGEST, DIGEST.exec(first)?.[0] ?? "");

describe("keys export and import", () => {
  it("move keys with any label, in chunks of any size, with CRLF too", async () => {
    const from = newDatabase();
    for (const label of LABELS) await issueKey(from, "--label", label);
    const { out } = await petstore("keys", "export", "--database", from);
    const bytes = Buffer.from(out.replaceAll("\n", "\r\n"));
    for (const size of [1, 3, 100_000]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const to = ["--database", newDatabase()];
      const imported = await petstoreReading(chunks, "keys", "import", "-", ...to);
      expect(imported).toMatchObject({ code: 0, out: "imported 4 keys" });
      const listed = JSON.parse((await petstore("keys", "list", "--json", ...to)).out) as unknown;
      expect(listed).toMatchObject(LABELS.map((label) => ({ label })));
    }
  });

  it.each<[string, RegExp, (line: string, first: string) => string]>([
    ["an id with a control character", / id$/, (line) => line.replace("key_", "\\u001bkey")],
    ["another id", / id$/, (line) => line.replace('"key_', '"key_0')],
    [
      "a hint with one",
      / secrets\.0\.hint$/,
      (line) => line.replace("pet_live_", "pet_live\\u009b"),
    ],
    ["a plan with one", / plan$/, (line) => line.replace('"free"', '"fr\\u009bee"')],
    ["a label with NUL", / label$/, (line) => line.replace('"ok"', '"o\\u0000k"')],
    ["half a character", / label$/, (line) => line.replace('"ok"', '"\\ud800"')],
    [
      "a label of 201 characters",
      / label$/,
      (line) => line.replace('"ok"', `"${"k".repeat(201)}"`),
    ],
    ["the digest of line 1", / or a secret of line 1$/, withDigestOf],
    ["the id of line 2", / or a secret of line 2$/, (line) => `${line}\n${line}`],
  ])("refuse all keys for %s", async (_, reason, change) => {
    const from = newDatabase();
    for (const label of ["first", "ok"]) await issueKey(from, "--label", label);
    const { out } = await petstore("keys", "export", "--database", from);
    const [first = "", second = ""] = out.split("\n");
    const to = ["--database", newDatabase()];
    const changed = change(second, first);
    const imported = await petstoreReading(`${first}\n${changed}`, "keys", "import", "-", ...to);
    expect(imported).toMatchObject({
      code: 1,
      out: "",
      error: expect.stringMatching(reason) as string,
    });
    expect((await petstore("keys", "list", ...to)).error).toContain("there is no database");
  });

  it("name the line whose secret is there under another id, and import none", async () => {
    const database = newDatabase();
    for (const label of ["there", "a", "b"]) await issueKey(database, "--label", label);
    const { out } = await petstore("keys", "export", "--database", database);
    const [there = "", ...others] = out.split("\n");
    const to = ["--database", newDatabase()];
    const imported = (...lines: readonly string[]) =>
      petstoreReading(lines.join("\n"), "keys", "import", "-", ...to);
    expect(await imported(there)).toMatchObject({ code: 0 });
    const { id } = JSON.parse(there) as { id: string };
    const renamed = there.replace(id, `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`);
    expect(await imported(...others, renamed)).toEqual({
      code: 1,
      out: "",
      error: `petstore: line 3 has a secret of the key ${id}, which is there`,
    });
    expect((await petstore("keys", "export", ...to)).out).toBe(there);
    expect((await imported(...others, there)).out).toBe("imported 2 keys; 1 key was there already");
  });

  it("a wrong line ends the command, also while its input stays open", async () => {
    const { child, output, ended } = startCommand(
      "keys",
      "import",
      "-",
      "--database",
      newDatabase(),
    );
    child.stdin.write("\n{}\n");
    expect(await ended).toBe(1);
    expect(output()).toBe("petstore: line 2 is not a key that `keys export` has printed: id\n");
  });

  it("a file that is not keys is refused in one line", async () => {
    const file = `${newDatabase()}.keys`;
    writeFileSync(file, `${"x".repeat(3_000_000)}\n{}`);
    expect(await petstore("keys", "import", file, "--database", newDatabase())).toMatchObject({
      code: 1,
      error:
        "petstore: line 1 is not a key that `keys export` has printed: it is not a JSON object",
    });
  });
});
