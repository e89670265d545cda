import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { conformanceCases } from "../packages/http-adapter/test/support/conformance/cases.js";
import { sendCase } from "../packages/http-adapter/test/support/conformance/run-case.js";
import {
  documentOnTheWire,
  undeclared,
  undeclaredElsewhere,
} from "../packages/http-adapter/test/support/openapi.js";
import { operations } from "../packages/http-adapter/test/support/operations.js";
import { issue, serve } from "../packages/http-adapter/test/support/serve.js";
import manifest from "./manifest.json" with { type: "json" };
import { install, start } from "./project.js";

/** What makes ids of type `bigint`, if anything does, and what else to set. */
const GENERATORS = {
  "openapi-typescript": ['`transform`, for `format: "int64"`', "openapi-fetch"],
  "@hey-api/openapi-ts": ['`{ name: "@hey-api/transformers", bigInt: true }` in `plugins`', ""],
  orval: [
    "`override: { useBigInt: true }`",
    '`client: "fetch"`, and a `mutator` or `fetch` that adds the base URL',
  ],
  kubb: [
    '`pluginTs({ integerType: "bigint" })`, for all integers',
    '`plugin-client` of `fetch`; `dataReturnType: "full"`; the `Content-Type` of creates',
  ],
  "openapi-zod-client": ["", "`withDeprecatedEndpoints: true`, or `getPet` is missing"],
} as const;

type Int64 = number | bigint;
type Response = Promise<{ readonly status: number | undefined; readonly body: unknown }>;
type Connect = (
  baseUrl: string,
  key: string,
) => {
  readonly list: (query: { limit: number; after?: Int64 }) => Response;
  readonly create: (pet: { name: string; categoryId: Int64 }) => Response;
  readonly get: (id: Int64) => Response;
};

test("generated clients compile, and are told what happened, as docs/client.md says", async () => {
  const { folder, run } = install("clients", []);
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(documentOnTheWire));
  const made = Object.entries(GENERATORS).map(([generator, [exact, more]]) => {
    const files = ["number", ...(exact === "" ? [] : ["bigint"])].map((kind) => {
      run("generate.js", generator, kind);
      return `${kind}/${fileOf(generator)}/client.ts`;
    });
    return { generator, files, exact, more };
  });
  const strict = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck"];
  const how = ["--module", "preserve", "--target", "es2022", "--allowImportingTsExtensions"];
  const files = made.flatMap((each) => each.files);
  run("node_modules/typescript/bin/tsc", ...strict, ...how, "--types", "node", ...files);

  const versions: Readonly<Record<string, string>> = manifest.clients;
  const table = ["| Generator | Ids are | To get `bigint`, set | Also needs |"];
  table.push("| - | - | - | - |");
  for (const { generator, files, exact, more } of made) {
    const seen: string[] = [];
    for (const file of files) {
      const outfile = join(folder, file.replace(/\.ts$/, ".cjs"));
      const entryPoints = [join(folder, file)];
      await build({ entryPoints, outfile, bundle: true, platform: "node", format: "cjs" });
      const { connect } = createRequire(outfile)(outfile) as { readonly connect: Connect };
      seen.push(await use(connect, file.startsWith("bigint") ? BigInt : Number));
    }
    const version = versions[generator] ?? versions[`@${generator}/core`] ?? "";
    const kinds = files.map((file) => `\`${file.slice(0, 6)}\``).join(", ");
    expect(new Set(seen), generator).toEqual(new Set(["number 9007199254740992"]));
    const cells = [`${generator} ${version}`, kinds, exact, more];
    table.push(`| ${cells.join(" | ")} |`);
  }
  const document = readFileSync("docs/client.md", "utf8")
    .replace(/ +/g, " ")
    .replace(/-{2,}/g, "-");
  expect(document).toContain(table.join("\n").replace(/ +/g, " "));
});

function fileOf(generator: string): string {
  return generator.replace(/^@|\/.*/g, "");
}

/** Uses a client as its application would. Returns what becomes of 9007199254740993. */
async function use(connect: Connect, id: (value: number) => Int64): Promise<string> {
  const { port, key } = await serve();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const { list, create, get } = connect(baseUrl, key);
  if (id === Number)
    expect(await create({ name: "Rex", categoryId: 7 })).toMatchObject({ status: 201 });
  // JSON.stringify refuses a bigint: how a body is written has to be set.
  for (let count = id === Number ? 1 : 0; count < 2; count += 1)
    await fetch(`${baseUrl}/pets`, {
      method: "POST",
      body: '{"name":"Ada","categoryId":9007199254740993}',
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  const pet = (number: number) => ({
    id: expect.toSatisfy((is) => Number(is) === number) as unknown,
  });
  for (const [response, status, body] of [
    [list({ limit: 1 }), 200, [pet(1)]],
    [list({ limit: 1, after: id(1) }), 200, [pet(2)]],
    [get(id(1)), 200, pet(1)],
    [get(id(9)), 404, { code: "pet_not_found" }],
    [list({ limit: 101 }), 400, { code: "invalid_query" }],
    [connect(baseUrl, "made-up").get(id(1)), 401, { code: "invalid_api_key" }],
  ] as const)
    expect(await response).toMatchObject({ status, body });
  const { categoryId } = (await get(id(2))).body as { readonly categoryId: Int64 };
  for (let sent = 0; sent < 60; sent += 1) await get(id(1));
  expect(await get(id(1))).toMatchObject({ status: 429, body: { code: "rate_limit_exceeded" } });
  return `${typeof categoryId} ${categoryId}`;
}

test("every response of the conformance table is declared for an operation, or for none", async () => {
  const differences: string[] = [];
  for (const row of conformanceCases) {
    const { port, key } = await serve();
    const wire = await sendCase(row, port, key);
    const isHead = row.request.startsWith("HEAD ");
    for (const { status } of row.responses) {
      const response = await wire.response(isHead ? "HEAD" : "GET");
      if (status === 100) continue;
      const possible = operations.filter((each) => each.startsWith("HEAD ") === isHead);
      const problems = possible.map((operation) => undeclared(operation, response));
      problems.push(undeclaredElsewhere(response));
      if (!problems.includes("")) differences.push(`${row.name}: ${problems.join("; ")}`);
    }
    wire.socket.destroy();
  }
  expect(differences).toEqual([]);
});

test("Prism, as a proxy that validates, finds no response that is not declared", async () => {
  const { folder } = install("prism", []);
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(documentOnTheWire));
  const { port, store } = await serve();
  const key = await issue(store, { perMinute: 100_000, perDay: 100_000 });
  const proxied = `http://127.0.0.1:${port}/v1`;
  const proxy = await start(folder, (own) => [
    ...["node_modules/@stoplight/prism-cli/dist/index.js", "proxy", "openapi.json", proxied],
    ...["--port", `${own}`, "--verboseLevel", "fatal"],
  ]);
  const violations = new Set<string>();
  for (let index = 0; index < 1_000; index += 1) {
    const [path, init] = variedRequest(index);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${proxy}${path}`, { headers, ...init });
    await response.text();
    expect(response.headers.has("x-ratelimit-limit")).toBe(true);
    const found = JSON.parse(response.headers.get("sl-violations") ?? "[]") as Violation[];
    for (const { location, message } of found) {
      // Prism reads int64 as numbers of JavaScript, and expects no others.
      if (message.endsWith("must be <= 9007199254740991")) continue;
      if (location[0] === "response") violations.add(`${location.join(".")}: ${message}`);
    }
  }
  expect([...violations]).toEqual([]);
});

interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

/** A good request or a bad one. Prism itself responds to HEAD, with 500, and to what is not JSON. */
function variedRequest(index: number): readonly [path: string, init: RequestInit] {
  const turn = Math.floor(index / 3);
  const [number, status, name] = [
    ["1", "100", "101", "0", "-1", "true", "9007199254740993", "1.5"][turn % 8] ?? "",
    ["available", "pending", "sold", "lost", ""][turn % 5] ?? "",
    ["Rex", "", "ü", "a\u0000b", "x".repeat(70_000)][turn % 5],
  ];
  if (index % 3 === 0) {
    const queries = [`limit=${number}`, `status=${status}`, `after=${number}`];
    return [`/pets?${queries[turn % 3] ?? ""}`, {}];
  }
  if (index % 3 === 1) return [`/pets/${number}`, {}];
  const last = turn % 7 === 0 ? "x" : "status";
  const body = `{"name":${JSON.stringify(name)},"categoryId":${number},"${last}":"${status}"}`;
  return ["/pets", { method: "POST", body }];
}
