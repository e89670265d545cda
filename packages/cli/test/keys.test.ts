import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { windowNames } from "@petstore/core/facts";
import { startCommand, useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, petstoreOn, refused, terminalTo, withDatabase } from "./support/command.js";
import { openBeside, ownPlan } from "./support/command.js";

useBuiltPetstore();

/** Labels of which JSON keeps every character, and some readers of lines take one for a line break. */
const LABELS = ["two\u2028lines", "two\u2029lines", "a\u0085b\u000bc\u000cd", "🐈".repeat(100)];

it("keys issue prints the secret also if the database cannot be closed", async () => {
  const close = vi.spyOn(Database.prototype, "close");
  close.mockImplementation(function (this: Database.Database) {
    if (this.memory) return this;
    throw new Database.SqliteError("no", "SQLITE_IOERR");
  });
  const { code, out } = await withDatabase().run("keys", "issue", "--plan", "free");
  close.mockRestore();
  expect([code, out]).toEqual([1, expect.stringMatching(/pet_live_/)]);
});

it("keys issue prints the secret as text, or one JSON object with the id, the secret and the plan, and says that it creates a new database", async () => {
  const { database, run } = withDatabase();
  const out: unknown = expect.stringMatching(
    /^Key key_\w+ on the pro plan\. Its secret, shown only once:\n\n {2}pet_live_[0-9A-Za-z]{36}\n$/,
  );
  for (const error of [`petstore: new database ${database}`, ""])
    expect(await run("keys", "issue", "--plan", "pro")).toEqual({ code: 0, out, error });
  expect(await issueKey(database, "--label", "acme", "--expires", "2099-01-01")).toMatchObject({
    id: expect.stringMatching(/^key_/) as string,
    secret: expect.stringMatching(/^pet_live_[0-9A-Za-z]{36}$/) as string,
    plan: "free",
    label: "acme",
    limits: { perMinute: 60, perDay: 1_000 },
    usage: {
      minute: { limit: 60, remaining: 60, resetAt: expect.any(Number) as number },
      day: { limit: 1_000, remaining: 1_000, resetAt: expect.any(Number) as number },
    },
    expiresAt: Date.parse("2099-01-01T00:00Z"),
  });
});

it.each([
  ["2096-02-29", "2096-02-29T00:00:00.000Z"],
  ["2031-01-01T10:30", "2031-01-01T10:30:00.000Z"],
  ["2031-01-01T10:30:15.123456789", "2031-01-01T10:30:15.123Z"],
  ["2031-01-01T00:30:00.5+02:00", "2030-12-31T22:30:00.500Z"],
  ["tomorrow"],
  ["2031-02-29T00:00:00Z"],
  ["2031-01-01T25:00Z"],
  ["2031-01-01 of next year"],
])("reads --expires %s wherever it runs, or refuses it", async (text, expiresAt?: string) => {
  vi.stubEnv("TZ", "Asia/Tokyo");
  const issue = "keys issue --plan free --json --expires".split(" ");
  const issued = await withDatabase().run(...issue, text);
  if (expiresAt === undefined)
    expect(issued).toEqual(refused(expect.stringMatching(/^petstore: [^\n]*ISO 8601[^\n]*$/)));
  else expect(JSON.parse(issued.out)).toMatchObject({ expiresAt: Date.parse(expiresAt) });
});

it("the other commands of keys rotate, change the plan of, lift the ban of and revoke a key, and print it as JSON", async () => {
  const { database, run, json } = withDatabase();
  const { id, secret } = await issueKey(database);
  const change = (verb: string, ...options: readonly string[]) =>
    json("keys", verb, id, ...options);
  const rotated = await change("rotate", "--overlap", "60");
  expect(rotated).toMatchObject({ id, secret: expect.stringMatching(/^pet_live_/) as string });
  expect(rotated).not.toMatchObject({ secret });
  const secrets = [{ state: "current" }, { state: "replaced" }];
  await change("rotate", "--overlap", "60");
  expect(await change("end-secret", `${secret.slice(0, 13)}…`)).toMatchObject({ secrets });
  expect(await change("change-plan", "business")).toMatchObject({ plan: "business", secrets });
  expect((await run("keys", "find", id)).out).toMatch(
    /SECRET +pet_live_\w{4}…\nSECRET +pet_live_\w{4}… {2}replaced; accepted until \S+ \S+ UTC\n/,
  );
  expect(await change("lift-ban")).toMatchObject({ id, bannedUntil: null });
  expect(await change("revoke")).toMatchObject({ id, revokedAt: expect.any(Number) as number });
  const text = (await run("keys", "find", id)).out;
  expect(text).toMatch(/\nSTATE +revoked/);
  expect(text.match(/SECRET +pet_live_\w{4}… {2}refused since .* UTC/g)).toHaveLength(2);
  const ended = { state: "refused", at: expect.any(Number) as number };
  expect(await change("find")).toMatchObject({ state: "revoked", secrets: [ended, ended] });
});

it("the other commands of keys purge keys that ended longer ago than --older-than", async () => {
  const { database, run, json } = withDatabase();
  const kept = await issueKey(database);
  const purge = (...args: readonly string[]) => run("keys", "purge", "--older-than", ...args);
  for (const [seconds, more, less] of [
    [90, "2m", "90s"],
    [100, "200s", "1m"],
    [90_000, "26h", "1d"],
    [90_000, "2d", "24h"],
  ] as const) {
    await run("keys", "revoke", (await issueKey(database)).id);
    const earlier = `revoked_at - ${seconds}000`;
    new Database(database).exec(`update api_keys set revoked_at = ${earlier}`).close();
    expect((await purge(more)).out).toBe("purged 0 keys");
    expect((await purge(more, "--json")).out).toBe('{"purged":0}');
    expect((await purge(less)).out).toBe("purged 1 key");
  }
  expect(await json("keys", "list")).toMatchObject([{ id: kept.id }]);
  for (const age of ["90", "d", "-1d", "1y", "999999999d"])
    expect((await purge(age)).error).toMatch(/^petstore: .*--older-than.* such as 90d/);
});

it("the other commands of keys say in one line when there is no such key, or no database, which they do not create, or when the file is none", async () => {
  const { database, run } = withDatabase();
  for (const result of [await run("keys", "list"), await run("keys", "list")])
    expect(result).toEqual(refused(`petstore: there is no database ${database}`));
  symlinkSync(database, database);
  expect((await run("keys", "list")).error).toContain("cannot be opened: ELOOP");
  rmSync(database);
  await issueKey(database);
  const none = refused("petstore: No API key has this id.");
  for (const verb of ["find", "revoke", "rotate --overlap 0", "lift-ban"])
    expect(await run("keys", ...verb.split(" "), "key_x"), verb).toEqual(none);
  expect(existsSync(`${database}-wal`)).toBe(false);
  writeFileSync(database, "not a database, but long enough to look at ".repeat(100));
  const wrong: unknown = expect.stringMatching(/^petstore: cannot use the database \S+: .+$/);
  expect(await run("keys", "list")).toEqual(refused(wrong));
  for (const tables of ["create table mine (own text)", ""]) {
    rmSync(database);
    new Database(database).exec(tables).close();
    const before = readFileSync(database);
    expect([await run("keys", "list"), readFileSync(database)]).toEqual([refused(wrong), before]);
  }
});

const EACH_LIMIT = windowNames.flatMap((name, index) => [`--per-${name}`, String(index + 1)]);
const DIGEST = /(?<="digest":")[^"]+/;

const withDigestOf = (line: string, first: string) =>
  line.replace(DIGEST, DIGEST.exec(first)?.[0] ?? "");

it("keys export and import move keys with any label, in chunks of any size, with CRLF and blank lines, from before a window, too", async () => {
  const from = withDatabase();
  for (const label of LABELS) await issueKey(from.database, "--label", label);
  await issueKey(from.database, "--plan", "enterprise", ...EACH_LIMIT);
  const { out } = await from.run("keys", "export");
  const older = out.replaceAll(',"dayUsed":0', "");
  for (const size of [1, 3, 100_000]) {
    const bytes = Buffer.from((size === 3 ? older : out).replaceAll("\n", "\r\n \r\n"));
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const to = withDatabase();
    const imported = await to.read(chunks, "keys", "import", "-");
    expect(imported).toMatchObject({ code: 0, out: "imported 5 keys" });
    expect((await to.run("keys", "export")).out).toBe(out);
  }
});

it.each<[string, RegExp, (line: string, first: string) => string]>([
  ["a line that is no key", / it is not a JSON object$/, () => "x".repeat(3_000_000)],
  ["an id with a control character", / id$/, (line) => line.replace("key_", "\\u001bkey")],
  ["another id", / id$/, (line) => line.replace('"key_', '"key_0')],
  ["a hint with one", / secrets\.0\.hint$/, (line) => line.replace("live_", "live\\u009b")],
  ["a plan with one", / plan$/, (line) => line.replace('"free"', '"fr\\u009bee"')],
  ["a label in Latin-1", / UTF-8$/, (line) => line.replace('"ok"', '"\xe9"')],
  ["201 characters", / label$/, (line) => line.replace('"ok"', `"${"k".repeat(201)}"`)],
  ["a digest of 44 characters", /0\.digest$/, (line) => line.replace(DIGEST, "$&0")],
  ["one of 42", /0\.digest$/, (line) => line.replace(/.(?=","hint")/, "")],
  ["no secret", / secrets$/, (line) => line.replace(/"secrets":\[.*\]/, '"secrets":[]')],
  ["one of more than 256 bits", /0\.digest$/, (line) => line.replace(/.(?=","hint")/, "B")],
  ["one with another in front", /0\.digest$/, (line) => line.replace(DIGEST, "!$&")],
  ["no end", / revokedAt$/, (line) => line.replace('"revokedAt":null,', "")],
  ["a field of a newer export", / tag$/, (line) => line.replace("{", '{"tag":1,')],
  ["a window of one", /usage\.weekUsed$/, (line) => line.replace('"min', '"weekUsed":0,$&')],
  ["a limit of one", / limits$/, (line) => line.replace('"perMinute', '"perWeek":1,$&')],
  ["the digest of line 1", / or a secret of line 1$/, withDigestOf],
  ["one id twice", / of line 2$/, (line) => `${line}\n${line.replace(/...(?=","h)/, "1_A")}`],
])("keys export and import refuse all keys for %s", async (_, reason, change) => {
  const [from, to] = [withDatabase(), withDatabase()];
  for (const label of ["first", "ok"]) await issueKey(from.database, "--label", label);
  const [first = "", second = ""] = (await from.run("keys", "export")).out.split("\n");
  const lines = Buffer.from(`${first}\n${change(second, first)}`, "latin1");
  const error: unknown = expect.stringMatching(reason);
  expect(await to.read(lines, "keys", "import", "-")).toEqual(refused(error));
  expect((await to.run("keys", "list")).error).toContain("there is no database");
});

it("keys export and import name the line whose secret is there under another id, and import none, also of more than a page", async () => {
  const [from, to] = [withDatabase(), withDatabase()];
  await issueKey(from.database);
  const { out } = await from.run("keys", "export");
  const like = (id: number, secret = id) => {
    const [idEnd, digestEnd] = [id, secret].map((number) => String(number).padStart(4, "0"));
    const line = out.replace(/(?<="id":".*)....(?=")/, `${idEnd}`);
    return line.replace(/....(?=.","hint")/, `${digestEnd}`);
  };
  const all = Array.from({ length: 2_000 }, (_, number) => like(number));
  const file = `${from.database}.ndjson`;
  let progress = "";
  const stderr = terminalTo((text) => (progress += text));
  const imported = (...lines: readonly string[]) => {
    writeFileSync(file, lines.join("\n"));
    return petstoreOn({ stderr }, "keys", "import", file, "--database", to.database);
  };
  expect((await imported(...all)).out).toBe("imported 2,000 keys");
  expect(progress).toMatch(/100\.0 % 2,000 keys read(\r\S+K){2}adding 2,000 keys\r\S+K$/);
  progress = "";
  const stdin = Readable.from([readFileSync(file)]);
  await petstoreOn({ stderr, stdin }, "keys", "import", "-", "--database", to.database);
  expect(progress).toContain("\r\u001b[K2,000 keys read");
  expect((await to.run("keys", "export")).out.split("\n").toSorted()).toEqual(all);
  expect(await to.json("keys", "list")).toHaveLength(2_000);
  const taken = await imported(like(0, 1), ...all.slice(2), like(2_001, 0));
  expect(taken.error).toMatch(/: line 2000 has a secret of the key key_\w+0000, which is there$/);
  const most = await imported(like(2_001), ...all.slice(1));
  expect(most.out).toBe("imported 1 key; 1,999 keys were there already");
  const few = await imported(like(2_002), like(2_003), like(1));
  expect(few.out).toBe("imported 2 keys; 1 key was there already");
  const full = "before insert on api_keys begin select raise(abort, 'no room'); end";
  new Database(to.database).exec(`create trigger full ${full}`).close();
  expect((await imported(like(2_004))).error).toContain("Adding API keys failed: a rule of the");
});

it("keys export and import keep a ban, with which a key is shown and refused until it ends or is lifted, and listed with --banned", async () => {
  const [from, to] = [withDatabase(), withDatabase()];
  const named = ["--label", "hammer", "--expires", "2099-01-01"];
  const { id, secret } = await issueKey(from.database, ...ownPlan(3, 50), ...named);
  await issueKey(from.database);
  const admit = async ({ database }: typeof to) => (await openBeside(database)).as(secret).admit();
  (await admit(from))._unsafeUnwrap();
  const { out } = await from.run("keys", "export");
  const banned = out.replace('"bans":0,"bannedAt":0', `"bans":1,"bannedAt":${Date.now()}`);
  await to.read(banned, "keys", "import", "-");
  const time = expect.any(Number) as number;
  const usedUp = (limit: number) => ({ limit, remaining: 0, resetAt: time });
  const shown = {
    ...{ id, state: "banned", label: "hammer", plan: "enterprise" },
    ...{ limits: { perMinute: 3, perDay: 50 }, usage: { minute: usedUp(3), day: usedUp(50) } },
    ...{ createdAt: time, lastUsedAt: time, expiresAt: Date.parse("2099-01-01T00:00Z") },
    ...{ revokedAt: null, bannedUntil: time },
  };
  expect(await to.json("keys", "find", id)).toMatchObject(shown);
  expect(await to.json("keys", "list", "--banned")).toMatchObject([shown]);
  const day = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
  const list = (await to.run("keys", "list")).out;
  const row = `${id} .* hammer +enterprise +3/3 +(?:- +)*50/50 +${day} +${day} +2099-01-01 00:00`;
  expect(list).toMatch(new RegExp(`^${row} +banned until ${day}:\\d\\d UTC$`, "m"));
  const unused = String.raw`key_\w+ +pet_live_\w{4}… +- +free +0/60 +(?:- +)*0/1000`;
  expect(list).toMatch(new RegExp(`^${unused} +${day} +- +- +active$`, "m"));
  const lines = `LABEL +hammer\nPLAN +enterprise\nMINUTE +3/3\n(?:\\w+ +-\n)*DAY +50/50\nCREATED \\(UTC\\) +${day}
LAST USED \\(UTC\\) +${day}\nEXPIRES \\(UTC\\) +2099-01-01 00:00\nSTATE +banned until ${day}:\\d\\d UTC$`;
  const all = new RegExp(String.raw`^ID +key_\w+\nSECRET +pet_live_\w{4}…\n` + lines);
  expect((await to.run("keys", "find", id)).out).toMatch(all);
  expect((await admit(to))._unsafeUnwrapErr().code).toBe("api_key_banned");
  expect((await to.run("keys", "lift-ban", id)).out).toMatch(/ active$/);
  expect(await to.json("keys", "list", "--banned")).toEqual([]);
  await to.run("keys", "change-plan", id, "enterprise", "--per-minute", "8", "--per-day", "99");
  expect((await admit(to))._unsafeUnwrap().quota).toMatchObject({ limit: 8, day: { limit: 99 } });
});

it("a wrong line ends keys import, also while its input stays open", async () => {
  const to = ["--database", withDatabase().database];
  const { child, output, ended } = startCommand("keys", "import", "-", ...to);
  child.stdin.write("\n{}\n");
  expect(await ended).toBe(1);
  expect(output()).toBe("petstore: line 2 is not a key that `keys export` has printed: id\n");
});
