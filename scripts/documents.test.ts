import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { statusOf, type Failure } from "@petstore/http-adapter";
import { afterAll, describe, expect, it, vi } from "vitest";
import { petstore } from "../packages/cli/test/support/command.js";
import { useBundled } from "./bundled-programs.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "petstore-documents-"));
const run = promisify(execFile);

afterAll(() => rmSync(folder, { recursive: true }));

const packageReadmes = readdirSync(join(root, "packages")).map(
  (name) => `packages/${name}/README.md`,
);
const documents = [
  ...["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  ...packageReadmes,
];

const textOf = (document: string): string => readFileSync(join(root, document), "utf8");

const lengthOf = (document: string): number => textOf(document).trimEnd().split("\n").length;

/** Every error code: the compiler refuses a list that lacks one. */
const codes = {
  api_key_banned: true,
  bad_request: true,
  expectation_failed: true,
  headers_too_large: true,
  idempotency_key_reused: true,
  internal_error: true,
  invalid_api_key: true,
  invalid_idempotency_key: true,
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

describe("documents", () => {
  it.each(documents)("%s links only to files and headings that exist", (document) => {
    const links = [...textOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => !/^https?:/.test(link) && !exists(document, link));
    expect(broken).toEqual([]);
  });

  it.each(documents)("%s shows examples as they are", (document) => {
    const shown = textOf(document).matchAll(/<!-- (examples\/\S+) -->\n\n```ts\n(.*?)```/gs);
    for (const [, file = "", code] of shown) expect(code).toBe(textOf(file));
  });

  it("are short enough", () => {
    expect(lengthOf("README.md")).toBeLessThan(150);
    const long = packageReadmes.filter((document) => lengthOf(document) > 40);
    expect(long).toEqual([]);
  });
});

describe("README.md", () => {
  const EXAMPLES = ["examples/embed.ts", "examples/try.ts", "examples/client.ts"] as const;
  const program = useBundled("documents", EXAMPLES);

  it.each([
    [EXAMPLES[0], "Pet 1 is available. 59 of 60 requests are left.\n1n Rex"],
    [EXAMPLES[1], "served, rate_limit_exceeded, served"],
    [EXAMPLES[2], "Rex is in category 9007199254740993.\nserved, rate_limit_exceeded, served"],
  ])("%s prints what the documents say", async (example, output) => {
    const { stdout } = await run(process.execPath, [program(example)], { cwd: folder });
    expect(stdout.trim()).toBe(output);
  });
});

describe("docs/operating.md", () => {
  it("shows commands for keys that work", async () => {
    const commands = textOf("docs/operating.md").match(/(?<=^petstore )keys .*$/gm);
    expect(commands).toHaveLength(2);
    vi.stubEnv("PETSTORE_DATABASE", join(folder, "operated.db"));
    let output = "";
    for (const command of commands ?? []) {
      const { code, out } = await petstore(...command.split(" "));
      expect(code).toBe(0);
      output += out;
    }
    expect(output).toMatch(/pet_live_[0-9A-Za-z]{36}/);
    expect(output).toMatch(/acme +pro +0\/300 +0\/10000/);
  });
});

describe("docs/http.md", () => {
  it("lists every error code with its status", () => {
    const rows = [...textOf("docs/http.md").matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\|/gm)];
    const listed = Object.fromEntries(rows.map(([, code = "", status]) => [code, Number(status)]));
    const actual = Object.keys(codes).map((code) => [code, statusOf(code as Failure["code"])]);
    expect(listed).toEqual(Object.fromEntries(actual));
  });
});

describe("SECURITY.md", () => {
  it("names only tests that exist", () => {
    const named = textOf("SECURITY.md").matchAll(/`([a-z-]+\/test(?:\/[\w.-]+)*)`/g);
    const missing = [...named]
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(root, "packages", path)));
    expect(missing).toEqual([]);
  });
});

/** Whether a relative link leads to a file and, behind a `#`, to one of its headings. */
function exists(document: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? document : join(dirname(document), path);
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headingsOf(textOf(target)).includes(heading);
}

/** The anchors that GitHub gives to headings. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
