import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { petstore } from "./support/command.js";
import { helpOfAll } from "./support/help.js";

it("help describes each command and what it takes, has an example, and is also shown by `help`; docs/ names every option", async () => {
  const read = (name: string) =>
    readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");
  const documents = ["operating", "deploying", "postgres", "console"].map(read).join();
  const undocumented: string[] = [];
  for (const { words, out, args, options, commands } of await helpOfAll()) {
    const name = ["petstore", ...words].join(" ");
    expect(out).toMatch(new RegExp(`^Usage: ${name} .*\n\n[A-Z][^]*?\\.\n\n`));
    expect(out).toMatch(new RegExp(`\n\nExamples?:\n  ${name}${args.length > 0 ? " \\S" : ""}`));
    for (const listed of [...args, ...options, ...commands])
      expect(listed.text, `${name} ${listed.name}`).not.toBe("");
    expect(await petstore("help", ...words)).toEqual({ code: 0, out, error: "" });
    const missing = options.filter((option) => !documents.includes(option.name));
    undocumented.push(...missing.map((option) => `${name} ${option.name}`));
  }
  expect(undocumented).toEqual(["petstore --version"]);
});

it("help is shown, with exit code 1, when no command is given", async () => {
  const { code, out, error } = await petstore();
  expect(code).toBe(1);
  expect(out + error).toContain("Usage: petstore");
});

it("help of keys issue and change-plan lists the plans with their limits, and says that a time is in UTC", async () => {
  for (const name of ["issue", "change-plan"]) {
    const { out } = await petstore("keys", name, "--help");
    expect(out).toMatch(/free +60 requests per minute, 1,000 requests per day/);
    expect(out).toMatch(/enterprise +.*--per-minute and --per-day/);
  }
  expect((await petstore("keys", "issue", "--help")).out).toMatch(/--expires .*UTC/s);
});
