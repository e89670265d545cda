import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newDatabase, petstore } from "./support/command.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";

useBuiltPetstore();

function stub(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Resolves to why a server with these arguments does not start: its database cannot be opened, or something before. */
async function refusalOf(...args: readonly string[]): Promise<string> {
  const { code, out, error } = await petstore("serve", "--database", "/nowhere/pets.db", ...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  return error;
}

const STARTS = /^petstore: cannot use the database/;

describe("the environment of serve", () => {
  it("sets every option, as --help and docs/operating.md show", async () => {
    const document = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8");
    const { out } = await petstore("serve", "--help");
    const [, options = ""] = /\nOptions:\n(.*?)\n\n/s.exec(out) ?? [];
    const all = options.split(/\n(?= {2}-)/).map((text) => text.replace(/\s+/g, " "));
    const named = all.filter((text) => !text.includes("--help"));
    expect(named.length).toBeGreaterThan(10);
    for (const text of named) {
      const [, name = ""] = /--([a-z-]+)/.exec(text) ?? [];
      const variable = `PETSTORE_${name.toUpperCase().replaceAll("-", "_")}`;
      expect(text).toContain(`env: ${variable}`);
      expect(document).toContain(`\`${variable}\``);
    }
    expect(out).toMatch(/--host .*env:\s+PETSTORE_HOST,\s+HOST\)/s);
  });

  it("sets values, lists and switches", async () => {
    const database = newDatabase();
    stub({
      PETSTORE_DATABASE: database,
      PETSTORE_HOST: "127.0.0.2",
      HOST: "192.0.2.1",
      PETSTORE_CORS: "https://a.example, https://b.example",
      PETSTORE_TRUST_PROXY: "127.0.0.0/8,::1",
      PETSTORE_KEEP_ALIVE: "75",
      PETSTORE_RATE_LIMIT_FIELDS: "false",
      PETSTORE_FIRST_KEY: "1",
      PETSTORE_LOG: "true",
      // The argument wins.
      PETSTORE_PORT: "1",
      PORT: "1",
      PETSTORE_WORKERS: "2",
      PETSTORE_NO_POLL: "0",
    });
    const { url, output } = await startServer();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/v1$/);
    expect(output()).toContain("with 2 workers");
    await expect.poll(output).toContain("This is the first one");
    for (const [origin, allowed] of [
      ["https://a.example", "https://a.example"],
      ["https://b.example", "https://b.example"],
      ["https://c.example", null],
    ] as const) {
      const { headers } = await fetch(`${url}/pets`, { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBe(allowed);
      expect(headers.get("keep-alive")).toBe("timeout=75");
    }
    const [, authorization = ""] = /-H "Authorization: (.*?)"/.exec(output()) ?? [];
    const { headers } = await fetch(`${url}/pets`, { headers: { authorization } });
    expect(headers.get("ratelimit")).toBeNull();
    await expect.poll(output).toContain('{"level"');
  });

  it.each([
    ["PORT", "x", "--port <number>", "whole number, from 0 to 65535"],
    ["PETSTORE_PORT", "65536", "--port <number>", "whole number, from 0 to 65535"],
    ["PETSTORE_HOST", " ", "--host <address>", "It must be an address."],
    ["PETSTORE_CORS", "https://a.example,b", "--cors <origin>", "It must be an origin"],
    ["PETSTORE_TRUST_PROXY", "10.0.0.0/8,", "--trust-proxy <address...>", "an IP address"],
    ["PETSTORE_KEEP_ALIVE", "0", "--keep-alive <seconds>", "whole number, from 1"],
    ["PETSTORE_WORKERS", "-1", "--workers <n>", "whole number, from 1 to 256"],
    ["PETSTORE_LOG", "yes", "--log", "It must be true or false."],
    ["PETSTORE_NO_POLL", "TRUE", "--no-poll", "It must be true or false."],
  ])("refuses %s=%s with one line that names it", async (variable, value, flags, reason) => {
    stub({ [variable]: value });
    const error = await refusalOf();
    expect(error).toMatch(/^petstore: [^\n]+$/);
    expect(error).toContain(`option '${flags}' value '${value}' from env '${variable}' is invalid`);
    expect(error).toContain(reason);
  });

  it("is not read for an option that is given, nor when a variable is empty", async () => {
    stub({ PETSTORE_PORT: "x", PETSTORE_TRUST_PROXY: "x", PETSTORE_LOG: "x", PETSTORE_CORS: "" });
    stub({ HOST: "", PORT: "", PETSTORE_HOST: "" });
    // Arguments may be lists, too.
    const lists = ["--trust-proxy", "10.0.0.0/8,::1", "127.0.0.1", "--cors", "https://a.example,*"];
    expect(await refusalOf("--port", "0", ...lists, "--cors", "*", "--log")).toMatch(STARTS);
    stub({ PETSTORE_PORT: "", PETSTORE_TRUST_PROXY: "", PETSTORE_LOG: "" });
    expect(await refusalOf()).toMatch(STARTS);
    expect(await refusalOf("--cors", "https://a.example,")).toMatch(/--cors.*an origin/);
  });
});
