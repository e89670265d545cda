import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { useBuiltPetstore } from "./support/built-petstore.js";
import {
  issueKey,
  newDatabase,
  petstore,
  petstoreAt,
  petstoreReading,
  type IssuedKey,
} from "./support/command.js";
import { openBeside } from "./support/open-beside.js";

const program = useBuiltPetstore();

/** Labels of which JSON keeps every character, and some readers of lines take one for a line break. */
const LABELS = ["two\u2028lines", "two\u2029lines", "a\u0085b\u000bc\u000cd", "🐈"];

/** How many columns of a terminal a line takes. */
function columnsOf(line: string): number {
  return [...new Intl.Segmenter().segment(line)].reduce(
    (width, { segment }) => width + (/[\u3040-\u9FFF\u{1F1E6}-\u{1FAFF}]/u.test(segment) ? 2 : 1),
    0,
  );
}

describe("keys issue", () => {
  it("prints one JSON object with the id, the secret and the plan, or the secret as text", async () => {
    const database = newDatabase();
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
    const args = ["keys", "issue", "--plan", "pro", "--database", database];
    expect((await petstore(...args)).out).toMatch(/pro plan[^]*pet_live_[0-9A-Za-z]{36}/);
  });

  it.each([
    ["2096-02-29", "2096-02-29T00:00:00.000Z"],
    ["2031-01-01T10:30", "2031-01-01T10:30:00.000Z"],
    ["2031-01-01T10:30:15.5", "2031-01-01T10:30:15.500Z"],
    ["2031-01-01T10:30:15Z", "2031-01-01T10:30:15.000Z"],
    ["2031-01-01T00:30+02:00", "2030-12-31T22:30:00.000Z"],
    ["tomorrow"],
    ["2031-02-31"],
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

describe("keys list", () => {
  it("fits a terminal of any width, and names UTC; JSON has every key", async () => {
    const database = newDatabase();
    const labels = [
      "acme",
      "a name for a key that is far too long",
      "長い名前".repeat(20),
      "-",
      "🐈‍⬛👩🏽‍🚀🇯🇵".repeat(9),
      "ｶﾅ · ½ e\u0301",
    ];
    const ids: string[] = [];
    for (const label of labels) {
      ids.push((await issueKey(database, "--label", label, "--expires", "2099-01-01")).id);
    }
    await petstore("keys", "revoke", ids[3] ?? "", "--database", database);
    const list = ["keys", "list", "--database", database];
    const json = JSON.parse((await petstore(...list, "--json")).out) as unknown[];
    expect(json).toMatchObject(ids.map((id, index) => ({ id, label: labels[index] })));
    const piped = (await petstore(...list)).out;
    expect(piped).toMatch(/LABEL.*DAY.*CREATED \(UTC\).*LAST USED \(UTC\).*EXPIRES \(UTC\).*STATE/);
    expect(piped).toMatch(/acme +free +0\/60 +0\/1000/);
    expect(piped).toContain("長い名前".repeat(20));

    for (const width of [200, 120, 80, 60, 40]) {
      const { out } = await petstoreAt(width, ...list);
      const lines = out.split("\n");
      expect(lines).toHaveLength(7);
      const stateAt = lines[0]?.indexOf("STATE") ?? -1;
      for (const line of lines.slice(1)) {
        const [before = ""] = line.split(/(?=active|revoked)/);
        expect(columnsOf(before), "aligned").toBe(stateAt);
      }
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      for (const id of ids) expect(out).toContain(id);
      if (width >= 80) expect(out).toMatch(/revoked \S+ \S+ UTC$/m);
    }
  });

  it.each([
    ["a\u200b\u00ad\ufeff👩‍🚀", " a\uFFFD\uFFFD\uFFFD👩‍🚀 "],
    ["a\u001b[2J\r\n\u009b\u202eb 🐈", " a\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFDb 🐈 "],
  ])("replaces characters that control a terminal or take no place: %j", async (label, shown) => {
    const database = newDatabase();
    await issueKey(database, "--label", label);
    const { out } = await petstore("keys", "list", "--database", database);
    expect(out).toContain(shown);
    expect(out.split("\n")).toHaveLength(2);
    const json = await petstore("keys", "list", "--database", database, "--json");
    expect(JSON.parse(json.out)).toMatchObject([{ label }]);
  });

  it("sorts by use with --sort use, and as issued otherwise", async () => {
    const database = newDatabase();
    const store = await openBeside(database);
    const ids: string[] = [];
    for (const requests of [1, 3, 2]) {
      const { id, secret } = await issueKey(database);
      ids.push(id);
      for (let count = 0; count < requests; count += 1) await store.as(secret).listPets();
    }
    const list = async (...args: readonly string[]) => {
      const { out } = await petstore("keys", "list", "--database", database, "--json", ...args);
      return (JSON.parse(out) as IssuedKey[]).map(({ id }) => ids.indexOf(id));
    };
    expect(await list("--sort", "use")).toEqual([1, 2, 0]);
    expect(await list("--sort", "issue")).toEqual([0, 1, 2]);
    expect(await list()).toEqual([0, 1, 2]);
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
    expect(await run("plan", "business")).toMatchObject({ id, plan: "business" });
    expect(await run("unban")).toMatchObject({ id, bannedUntil: null });
    expect(await run("revoke")).toMatchObject({ id, revokedAt: expect.any(String) as string });
    expect((await petstore("keys", "show", id, "--database", database)).out).toContain("revoked");
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

  it("say when there is no such key", async () => {
    const database = newDatabase();
    await issueKey(database);
    const error = "petstore: No API key has this id.";
    for (const verb of ["show", "revoke", "rotate", "unban"]) {
      const refused = await petstore("keys", verb, "key_x", "--database", database);
      expect(refused, verb).toEqual({ code: 1, out: "", error });
    }
  });

  it("say in one line when there is no database, and do not create it, or when the file is none", async () => {
    const database = newDatabase();
    const list = () => petstore("keys", "list", "--database", database);
    const error = `petstore: there is no database ${database}`;
    expect([await list(), await list()]).toMatchObject([{ code: 1, error }, { error }]);
    writeFileSync(database, "not a database, but long enough to look at ".repeat(100));
    const { code, error: wrong } = await list();
    expect(code).toBe(1);
    expect(wrong).toMatch(/^petstore: cannot use the database \S+: .+$/);
  });
});

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

  it("a wrong line ends the command, also while its input stays open", async () => {
    const args = [program(), "keys", "import", "-", "--database", newDatabase()];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let error = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
    child.stdin.write("\n{}\n");
    expect(await once(child, "close")).toEqual([1, null]);
    expect(error).toBe("petstore: line 2 is not a key that `keys export` has printed: id\n");
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
