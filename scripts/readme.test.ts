import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { statusOf, type Failure } from "@petstore/http-adapter";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "petstore-readme-"));
const run = promisify(execFile);

afterAll(() => rmSync(folder, { recursive: true }));

/** The errors of the adapter and the engine: the compiler sees to it that none is missing. */
const codes = {
  api_key_banned: true,
  bad_request: true,
  expectation_failed: true,
  headers_too_large: true,
  internal_error: true,
  invalid_api_key: true,
  invalid_pet: true,
  invalid_query: true,
  malformed_json: true,
  method_not_allowed: true,
  missing_api_key: true,
  not_found: true,
  payload_too_large: true,
  pet_not_found: true,
  rate_limit_exceeded: true,
  request_timeout: true,
  storage_unavailable: true,
  store_closed: true,
  unsupported_media_type: true,
} satisfies Record<Failure["code"], true>;

describe("README", () => {
  const shown = [...readme.matchAll(/<!-- (examples\/\S+) -->\n\n```ts\n(.*?)```/gs)];

  it("shows an example for each kind of user who writes code", () => {
    expect(shown.map(([, file]) => file)).toEqual([
      "examples/embed.ts",
      "examples/mount.ts",
      "examples/try.ts",
    ]);
  });

  it.each(shown.map(([, file = "", code]) => [file, code]))("shows %s as it is", (file, code) => {
    expect(code).toBe(readFileSync(join(root, file), "utf8"));
  });

  it("lists every error code with its status", () => {
    const rows = [...readme.matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\|/gm)];
    const listed = Object.fromEntries(rows.map(([, code = "", status]) => [code, Number(status)]));
    const actual = Object.keys(codes).map((code) => [code, statusOf(code as Failure["code"])]);
    expect(listed).toEqual(Object.fromEntries(actual));
  });

  it.each([
    ["embed", "Pet 1 is available."],
    ["try", "served, rate_limit_exceeded, served"],
  ])("the example %s does what it says", async (name, output) => {
    const { stdout } = await run(
      process.execPath,
      ["--import", import.meta.resolve("tsx"), join(root, "examples", `${name}.ts`)],
      { cwd: folder, env: { ...process.env, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") } },
    );
    expect(stdout.trim()).toBe(output);
  });

  it("shows an operator commands that do what they say", async () => {
    const [, block = ""] = /\*\*Operate it\*\*.*?```sh\n(.*?)```/s.exec(readme) ?? [];
    const commands = block.split("\n").filter((line) => line.includes("/petstore keys "));
    expect(commands).toHaveLength(2);
    let output = "";
    for (const command of commands) {
      const args = command.split(" ").slice(1);
      const { stdout } = await run(
        process.execPath,
        ["--import", import.meta.resolve("tsx"), join(root, "packages/cli/src/bin.ts"), ...args],
        {
          cwd: folder,
          env: {
            ...process.env,
            TSX_TSCONFIG_PATH: join(root, "tsconfig.json"),
            PETSTORE_DATABASE: join(folder, "operated.db"),
          },
        },
      );
      output += stdout;
    }
    expect(output).toMatch(/pet_live_[0-9A-Za-z]{36}/);
    expect(output).toMatch(/acme +pro +0\/300 +0\/10000/);
  });
});
