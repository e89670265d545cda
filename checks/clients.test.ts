import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { conformanceCases } from "../packages/http-adapter/test/support/conformance/cases.js";
import { sendCase } from "../packages/http-adapter/test/support/conformance/run-case.js";
import {
  documentOnTheWire,
  operations,
  undeclared,
  undeclaredElsewhere,
} from "../packages/http-adapter/test/support/openapi.js";
import { issue, serve } from "../packages/http-adapter/test/support/serve.js";
import { install, start, type Project } from "./project.js";

/** The file of a generator's client, and the kinds of int64 that it can be told to make. */
const GENERATORS = [
  ["openapi-typescript", "openapi-typescript", ["number", "bigint"]],
  ["@hey-api/openapi-ts", "hey-api", ["number", "bigint"]],
  ["orval", "orval", ["number", "bigint"]],
  ["kubb", "kubb", ["number", "bigint"]],
  ["openapi-zod-client", "openapi-zod-client", ["number"]],
] as const;

interface Answer {
  readonly status: number | undefined;
  readonly body: unknown;
}
interface Client {
  readonly list: (query: { limit: number; after?: number | bigint }) => Promise<Answer>;
  readonly create: (pet: { name: string; categoryId: number | bigint }) => Promise<Answer>;
  readonly get: (id: number | bigint) => Promise<Answer>;
}
type Connect = (baseUrl: string, key: string) => Client;

test("generated clients compile, and are told what happened", async () => {
  const project = install("clients", []);
  project.copy("checks/clients", ".");
  writeFileSync(join(project.folder, "openapi.json"), JSON.stringify(documentOnTheWire));
  const made = GENERATORS.flatMap(([generator, name, kinds]) =>
    kinds.map((kind) => ({ kind, file: generate(project, generator, name, kind) })),
  );
  compile(
    project,
    made.map(({ file }) => file),
  );
  for (const { file, kind } of made) {
    const outfile = join(project.folder, file.replace(/\.ts$/, ".cjs"));
    const entryPoints = [join(project.folder, file)];
    await build({ entryPoints, outfile, bundle: true, platform: "node", format: "cjs" });
    const { connect } = createRequire(outfile)(outfile) as { readonly connect: Connect };
    await use(connect, kind === "bigint" ? BigInt : Number);
  }
});

/** Generates a client beside a copy of the program that calls it. Returns the program's path. */
function generate(project: Project, generator: string, name: string, kind: string): string {
  const folder = `${kind}/${name}`;
  mkdirSync(join(project.folder, folder), { recursive: true });
  project.run("generate.js", generator, folder, kind);
  project.copy(`checks/clients/${name}.ts`, `${folder}/client.ts`);
  return `${folder}/client.ts`;
}

function compile(project: Project, files: readonly string[]): void {
  const strict = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck"];
  const how = ["--module", "preserve", "--target", "es2022", "--allowImportingTsExtensions"];
  project.run("node_modules/typescript/bin/tsc", ...strict, ...how, "--types", "node", ...files);
}

async function use(connect: Connect, id: (value: number) => number | bigint): Promise<void> {
  const { port, key } = await serve();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const { list, create, get } = connect(baseUrl, key);
  const rex = { name: "Rex", categoryId: 7 };
  // JSON.stringify refuses a bigint: how a body is written has to be set.
  for (const name of ["Rex", "Ada"]) {
    if (id === Number) expect(await create({ ...rex, name })).toMatchObject({ status: 201 });
    else await fetch(`${baseUrl}/pets`, post(key, JSON.stringify({ ...rex, name })));
  }
  const pet = (number: number) => ({
    id: expect.toSatisfy((is) => Number(is) === number) as unknown,
  });
  expect(await list({ limit: 1 })).toMatchObject({ status: 200, body: [pet(1)] });
  expect(await list({ limit: 1, after: id(1) })).toMatchObject({ status: 200, body: [pet(2)] });
  expect(await get(id(1))).toMatchObject({ status: 200, body: pet(1) });
  expect(await get(id(9))).toMatchObject({ status: 404, body: { code: "pet_not_found" } });
  expect(await list({ limit: 101 })).toMatchObject({
    status: 400,
    body: { code: "invalid_query" },
  });
  const stranger = await connect(baseUrl, "made-up").get(id(1));
  expect(stranger).toMatchObject({ status: 401, body: { code: "invalid_api_key" } });
  let last = await get(id(1));
  for (let sent = 0; sent < 60; sent += 1) last = await get(id(1));
  expect(last).toMatchObject({ status: 429, body: { code: "rate_limit_exceeded" } });
}

const post = (key: string, body: string): RequestInit => ({
  method: "POST",
  body,
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
});

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
  const project = install("prism", []);
  writeFileSync(join(project.folder, "openapi.json"), JSON.stringify(documentOnTheWire));
  const { port, store } = await serve();
  const key = await issue(store, { perMinute: 100_000, perDay: 100_000 });
  const program = "node_modules/@stoplight/prism-cli/dist/index.js";
  const proxied = `http://127.0.0.1:${port}/v1`;
  const proxy = await start(project.folder, (own) => [
    ...[program, "proxy", "openapi.json", proxied, "--port", `${own}`, "--verboseLevel", "fatal"],
  ]);
  const violations = new Set<string>();
  let responses = 0;
  for (const [path, init] of variedRequests(1000)) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${proxy}${path}`, { headers, ...init });
    await response.text();
    if (response.headers.has("x-ratelimit-limit")) responses += 1;
    const found = JSON.parse(response.headers.get("sl-violations") ?? "[]") as Violation[];
    for (const { location, message } of found) {
      // Prism reads int64 as numbers of JavaScript, and expects no others.
      if (message.endsWith("must be <= 9007199254740991")) continue;
      if (location[0] === "response") violations.add(`${location.join(".")}: ${message}`);
    }
  }
  expect([...violations]).toEqual([]);
  expect(responses).toBe(1000);
});

interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

/** Good requests and bad ones. Prism itself responds to HEAD, with 500, and to what is not JSON. */
function variedRequests(count: number): readonly (readonly [path: string, init: RequestInit])[] {
  const statuses = ["available", "pending", "sold", "lost", ""];
  const numbers = ["1", "100", "101", "0", "-1", "true", "9007199254740993", "1.5"];
  const names = ["Rex", "", "ü", "a\u0000b", "x".repeat(70_000)];
  return Array.from({ length: count }, (_, index) => {
    const turn = Math.floor(index / 3);
    const number = numbers[turn % 8] ?? "";
    const status = statuses[turn % 5] ?? "";
    const name = JSON.stringify(names[turn % 5]);
    const body = `{"name":${name},"categoryId":${number},"status":"${status}"}`;
    const queries = [`limit=${number}`, `status=${status}`, `after=${number}`];
    return (
      [
        [`/pets?${queries[turn % 3]}`, {}],
        [
          "/pets",
          { method: "POST", body: turn % 7 === 0 ? body.replace('"status"', '"x"') : body },
        ],
        [`/pets/${number}`, {}],
      ] as const
    )[index % 3] as readonly [string, RequestInit];
  });
}
