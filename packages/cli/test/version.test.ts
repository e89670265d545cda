import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { petstore } from "./support/command.js";

it("--version prints the version of the package", async () => {
  const file = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(file) as { version: string };
  expect(await petstore("--version")).toEqual({ code: 0, out: version, error: "" });
});
