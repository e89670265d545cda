import { expect, it, vi } from "vitest";
import { startServer, textOf, useBuiltPetstore } from "./support/built-petstore.js";
import { newDatabase, petstore, refused, serveHere } from "./support/command.js";

useBuiltPetstore();

type Refusal = readonly [args: readonly string[], reason: RegExp];

it.each<Refusal>([
  [["keys", "issue", "--plan", "gold"], /--plan.*'gold'.*free, pro, business, enterprise/],
  [["keys", "issue"], /--plan/],
  [["keys", "issue", "--plan", "free", "--per-minute", "x"], /--per-minute.*whole number/],
  [["keys", "issue", "--plan", "free", "--expires", "2001-01-01"], /--expires.*in the future/],
  [["keys", "issue", "--plan", "free", "--label", "x".repeat(201)], /--label.*200 characters/],
  [["keys", "issue", "--plan", "enterprise", "--per-day", "9"], /--per-minute and --per-day/],
  [["keys", "issue", "--plan", "enterprise", "--per-minute", "0"], /--per-minute.*at least 1/],
  [["keys", "issue", "--plan", "pro", "--per-minute", "5"], /pro .*leave out --per-minute$/],
  [["keys", "change-plan", "key_x", "gold"], /'gold'.*free, pro, business, enterprise/],
  [["keys", "change-plan", "key_x", "enterprise"], /--per-minute and --per-day/],
  [["keys", "rotate", "key_x", "--overlap", "31536001"], /--overlap.*31536000/],
  [["keys", "list", "--watch"], /^petstore: --watch needs a terminal: leave it out$/],
  [["keys", "list", "--watch", "--json"], /'--watch' cannot be used with option '--json'$/],
  ...["find", "revoke", "rotate", "end-secret", "change-plan", "lift-ban"].map((name): Refusal => [
    ["keys", name],
    /argument 'id'$/,
  ]),
  [["keys", "change-plan", "key_x"], /argument 'plan'$/],
  [["keys", "end-secret", "key_x"], /argument 'hint'$/],
  [["keys", "import"], /argument 'file'$/],
  [["keys", "isue"], /unknown command 'isue'.*Did you mean issue/],
  [["help", "keys", "isue"], /unknown command 'isue'/],
  [["serve", "--port", ""], /--port.*whole number, from 0 to 65535/],
  ...["x", "65536", "1x", "[::1]", ":1", "::1:1"].map((address): Refusal => [
    ["serve", "--metrics", address],
    /--metrics.* a port, or /,
  ]),
  [["pets", "import", "-", "--from-line", "0"], /--from-line.*whole number, at least 1\.$/],
  [["pets", "import", "-", "--format", "xml"], /--format.*Allowed choices are ndjson, csv\.$/],
  [["pets", "import", "-", "--keep-ids", "--again"], /'--keep-ids' cannot be used with/],
  [["keys", "import", "nowhere.ndjson"], /: cannot read nowhere\.ndjson: it does not exist$/],
  [["pets", "import", ".", "--from-line", "1"], /: cannot read \.: it is a directory$/],
])("%j is refused in one line, which names the argument", async (args, named) => {
  const { code, out, error } = await petstore(...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(error).toMatch(/^petstore: [^\n]+$/);
  expect(error).toMatch(named);
  expect(error).not.toMatch(/error:|expiresAt|perMinute|perDay|overlapSeconds/);
});

it.each(["-V", "--version"])("%s prints the version of the package", async (option) => {
  const { version } = JSON.parse(textOf("packages/cli/package.json")) as { version: string };
  expect(await petstore(option)).toEqual({ code: 0, out: version, error: "" });
});

function stub(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

it.each([
  ["keys", "issue", "--plan", "free"],
  ["keys", "list"],
  ["pets", "import", "-"],
  ["pets", "export", "-"],
  ["backup", "copy.db"],
  ["serve", "--port", "0"],
])("%s %s refuses a database without a name, or in memory if it is no server", async (...args) => {
  stub({ PETSTORE_DATABASE: "" });
  const inMemory = ["--database.*:memory:.* It must be a file: .*", "--database", ":memory:"];
  for (const [reason = "", ...options] of [
    ...(args[0] === "serve" ? [] : [inMemory]),
    ["--database.* It must name a file, without white space .*", "--database", ""],
    ["--database.* It must name a file, without white space .*", "--database", "pets.db "],
    ["PETSTORE_DATABASE.* It must name a file, without white space .*"],
  ]) {
    const error: unknown = expect.stringMatching(`^petstore: .*${reason}$`);
    expect(await petstore(...args, ...options)).toEqual(refused(error));
  }
});

/** Resolves to why a server with these arguments does not start: its database cannot be opened, or something before. */
async function refusalOf(...args: readonly string[]): Promise<string> {
  const ended = await petstore("serve", "--database", "/nowhere/pets.db", ...args);
  expect(ended).toEqual(refused(ended.error));
  return ended.error;
}

const STARTS = /^petstore: cannot use the database/;

/** The help of a command, with each argument, option and command that it lists. */
async function helpOf(...words: readonly string[]) {
  const { out } = await petstore(...words, "--help");
  const listed = (heading: string) => {
    const [, list = ""] = new RegExp(`^${heading}:\n(.*?)(?:\n\n|$(?!\n))`, "ms").exec(out) ?? [];
    const entries = list.split(/\n(?= {2}\S)/).filter(Boolean);
    return entries.map((entry) => {
      const [, name = "", text = ""] =
        /^ {2}(?:-\w, )?(\S+)(?: \S+)*?(?: {2,}(.*))?$/s.exec(entry) ?? [];
      return { name, text: text.replace(/\s+/g, " ") };
    });
  };
  const taken = { args: listed("Arguments"), options: listed("Options") };
  return { out, ...taken, commands: listed("Commands") };
}

it("the environment of serve sets every option, as --help shows", async () => {
  const { out, options } = await helpOf("serve");
  expect(options.length).toBeGreaterThan(10);
  for (const { name, text } of options.filter(({ name }) => name !== "--help")) {
    const variable = `PETSTORE_${name.slice(2).toUpperCase().replaceAll("-", "_")}`;
    expect(text).toContain(`env: ${variable}`);
  }
  expect(out).toMatch(/--host .*env:\s+PETSTORE_HOST,\s+HOST\)/s);
  expect(out).toContain("An argument wins over a variable (env).");
});

it("the environment of serve sets values, lists and switches", async () => {
  stub({
    PETSTORE_DATABASE: newDatabase(),
    PETSTORE_HOST: "127.0.0.2",
    HOST: "192.0.2.1",
    PETSTORE_CORS: "https://a.example, https://b.example",
    PETSTORE_TRUST_PROXY: "127.0.0.0/8,::1",
    PETSTORE_KEEP_ALIVE: "75",
    PETSTORE_RATE_LIMIT_FIELDS: "false",
    PETSTORE_FIRST_KEY: "1",
    PETSTORE_LOG: "true",
    PETSTORE_PORT: "1",
    PORT: "1",
  });
  const { url, output } = await serveHere();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/v1$/);
  await expect.poll(output).toContain("This is the first one");
  for (const name of ["a", "b", "c"]) {
    const origin = `https://${name}.example`;
    const { headers } = await fetch(`${url}/pets`, { headers: { origin } });
    expect(headers.get("access-control-allow-origin")).toBe(name === "c" ? null : origin);
    expect(headers.get("keep-alive")).toBe("timeout=75");
  }
  const [, authorization = ""] = /-H "Authorization: (.*?)"/.exec(output()) ?? [];
  const { headers } = await fetch(`${url}/pets`, { headers: { authorization } });
  expect(headers.get("ratelimit")).toBeNull();
  await expect.poll(output).toContain('{"level"');
});

it.each([
  ["PORT", "65536", "--port <number>", "whole number, from 0 to 65535"],
  ["PETSTORE_PORT", "tcp://10.0.0.1:80/", "--port <number>", "whole number, from 0 to 65535"],
  ["PETSTORE_KEEP_ALIVE", "tcp://10.0.0.1:80", "--keep-alive <seconds>", "whole number, from 1"],
  ["PETSTORE_HOST", " ", "--host <address>", "It must be an address."],
  ["PETSTORE_CORS", "https://a.example,b", "--cors <origin>", "It must be an origin"],
  ["PETSTORE_TRUST_PROXY", "10.0.0.0/8,", "--trust-proxy <address...>", "an IP address"],
  ["PETSTORE_KEEP_ALIVE", "0", "--keep-alive <seconds>", "whole number, from 1"],
  ["PETSTORE_WORKERS", "-1", "--workers <n>", "whole number, from 1 to 256"],
  ["PETSTORE_LOG", "yes", "--log", "It must be true or false."],
])("serve refuses %s=%s with one line that names it", async (variable, value, flags, reason) => {
  stub({ [variable]: value });
  const error = await refusalOf();
  expect(error).toMatch(/^petstore: [^\n]+$/);
  expect(error).toContain(`option '${flags}' value '${value}' from env '${variable}' is invalid`);
  expect(error).toContain(reason);
});

it("the environment of serve may have those of Services of Kubernetes that are called petstore and petstore-worker", async () => {
  for (const link of ["tcp://10.0.0.1:80", "udp://[fd00::1]:80", "sctp://10.0.0.1:80"]) {
    stub({ PETSTORE_PORT: link, PETSTORE_PORT_80_TCP: link, PETSTORE_WORKER_PORT: link });
    stub({ PETSTORE_SERVICE_HOST: "10.0.0.1", PETSTORE_SERVICE_PORT: "80" });
    expect(await refusalOf()).toMatch(STARTS);
  }
  const { url } = await startServer("--workers", "2", "--database", newDatabase());
  expect((await fetch(`${url}/pets`)).status).toBe(401);
});

it("the environment of serve is not read for an option that is given, nor when a variable is empty", async () => {
  stub({ PETSTORE_PORT: "x", PETSTORE_TRUST_PROXY: "x", PETSTORE_LOG: "x", PETSTORE_CORS: "" });
  stub({ HOST: "", PORT: "", PETSTORE_HOST: "" });
  const lists = ["--trust-proxy", "10.0.0.0/8,::1", "127.0.0.1", "--cors", "https://a.example,*"];
  const least = ["--port", "0", "--keep-alive", "1", "--shutdown-delay", "0", "--workers", "1"];
  const most = ["--port", "65535", "--keep-alive", "86400", "--shutdown-delay", "3600"];
  for (const numbers of [least, most])
    expect(await refusalOf(...numbers, ...lists, "--cors", "*", "--log")).toMatch(STARTS);
  stub({ PETSTORE_PORT: "", PETSTORE_TRUST_PROXY: "", PETSTORE_LOG: "0" });
  expect(await refusalOf()).toMatch(STARTS);
  expect(await refusalOf("--cors", "https://a.example,")).toMatch(/--cors.*an origin/);
});

it("help describes each command and what it takes, has an example, and is also shown by `help`, or with exit code 1 without a command; docs/ names every option", async () => {
  const { code, ...shown } = await petstore();
  expect([code, shown.out + shown.error]).toEqual([1, expect.stringContaining("Usage: petstore")]);
  const files = ["operating", "deploying", "postgres", "console"];
  const documents = files.map((name) => textOf(`docs/${name}.md`)).join();
  const [undocumented, all]: [string[], string[][]] = [[], [[]]];
  for (const words of all) {
    const { out, args, options, commands } = await helpOf(...words);
    for (const { name: next } of commands) if (next !== "help") all.push([...words, next]);
    const name = ["petstore", ...words].join(" ");
    expect(out).toMatch(new RegExp(`^Usage: ${name} .*\n\n[A-Z][^]*?\\.\n\n`));
    expect(out).toMatch(new RegExp(`\n\nExamples?:\n  ${name}${args.length > 0 ? " \\S" : ""}`));
    for (const listed of [...args, ...options, ...commands])
      expect(listed.text, `${name} ${listed.name}`).toMatch(/^[^(]/);
    expect(await petstore("help", ...words)).toEqual({ code: 0, out, error: "" });
    const missing = options.filter((option) => !documents.includes(option.name));
    undocumented.push(...missing.map((option) => `${name} ${option.name}`));
  }
  expect(undocumented).toEqual(["petstore --version"]);
  expect(all.length).toBeGreaterThan(20);
});

it("help of keys issue and change-plan lists the plans with their limits, and says that a time is in UTC", async () => {
  for (const name of ["issue", "change-plan"]) {
    const { out } = await petstore("keys", name, "--help");
    expect(out).toMatch(/free +60 requests per minute, 1,000 requests per day/);
    expect(out).toMatch(/enterprise +.*--per-minute and --per-day/);
  }
  expect((await petstore("keys", "issue", "--help")).out).toMatch(/--expires .*UTC/s);
});
