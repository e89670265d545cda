import { standardPlans } from "@petstore/core";
import { operations as facts } from "@petstore/core/facts";
import { openApiDocument, statusOf } from "@petstore/http-adapter";
import type { ResponseError } from "@petstore/http-adapter/internal";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { inCi } from "../../../scripts/test-size.js";
import { documentOnTheWire, responsesOf } from "./support/openapi.js";
import { operations } from "./support/operations.js";

const { info, paths, components } = openApiDocument;

test("the document is valid OpenAPI 3.1, on the wire and in memory", async () => {
  for (const document of [documentOnTheWire, openApiDocument]) {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  }
});

// In CI only: their imports alone take a second. References and examples are among what they check.
test.runIf(inCi)("Redocly and Spectral find nothing, with the rules they recommend", async () => {
  const { createConfig, lintFromString } = await import("@redocly/openapi-core");
  const { default: spectralCore } = await import("@stoplight/spectral-core");
  const { default: rulesets } = await import("@stoplight/spectral-rulesets");
  const source = JSON.stringify(openApiDocument);
  const config = await createConfig({ extends: ["recommended"] });
  expect(await lintFromString({ source, absoluteRef: "/openapi.json", config })).toEqual([]);
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [[rulesets.oas as never, "recommended"]] });
  expect(await spectral.run(source)).toEqual([]);
});

test("it is version 1.0.0 below /v1, every operation takes a bearer key, and a new pet has to have a body", () => {
  expect(openApiDocument).toMatchObject({
    info: { version: "1.0.0" },
    servers: [{ url: "v1" }],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer" } },
      schemas: { NewPet: { required: ["name", "categoryId"] } },
      headers: { "Retry-After": { required: true }, RateLimit: { required: false } },
    },
    paths: { "/pets": { post: { requestBody: { required: true } } } },
  });
  for (const { required, properties } of [components.schemas.Pet, components.schemas.Error])
    expect(required).toEqual(Object.keys(properties));
  const given = [...paths["/pets"].get.parameters, ...paths["/pets"].post.parameters];
  expect(given.map(({ required }) => required)).not.toContain(true);
});

interface Documented {
  readonly operationId: string;
  readonly description: string;
  readonly deprecated?: boolean;
}

test("it has every operation by its name, with HEAD; getPet is deprecated with the date", () => {
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries<Documented>(item).map(([method, { operationId, ...documented }]) => {
      return [`${method.toUpperCase()} ${path}`, operationId, documented] as const;
    }),
  );
  expect(found.map(([operation]) => operation).sort()).toEqual([...operations].sort());
  const names = Object.keys(facts);
  expect(found.map(([, id]) => id).sort()).toEqual(["headPet", "headPets", ...names].sort());
  const deprecated = found.filter(([, , documented]) => documented.deprecated);
  expect(deprecated.map(([, id]) => id)).toEqual(["getPet", "headPet"]);
  for (const [, , { description }] of deprecated) expect(description).toContain("5 December 2030");
});

test("it is deeply frozen, and nothing in it misleads a generator", () => {
  const isFrozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  expect(isFrozen(openApiDocument)).toBe(true);
  const text = JSON.stringify(openApiDocument);
  // JavaScript rounds the bounds of int64; a closed schema refuses a later field, an open one takes any; a constant
  // without a type has none in some; \u0000 becomes a NUL in a source file; a list of at most 100 a tuple.
  expect(text).not.toMatch(/92233720368|additionalProperties|"const"|u0000|maxItems/);
  expect(text.match(/"enum"/g)).toHaveLength(
    text.match(/"type":"(?:string|integer)"[^{}]*"enum"/g)?.length ?? 0,
  );
  expect(text.match(/"int64"/g)).toHaveLength(text.match(/lossless-json/g)?.length ?? 0);
});

test("the description shows the limits of every standard plan", () => {
  for (const name of Object.keys(standardPlans))
    expect(info.description).toContain(`\n| ${name} | `);
  const rows = "| business | 1,000 | 100,000 |\n| enterprise | custom | custom |\n";
  expect(info.description).toContain(rows);
});

test("every error code is documented, under its status alone", () => {
  const responses = operations.flatMap((operation) => Object.entries(responsesOf(operation)));
  const seen = responses.flatMap(([status, { content }]) => {
    if (Number(status) < 400 || content === undefined) return [];
    const { schema, examples } = content["application/json"] ?? { schema: {} };
    const codes = Object.keys(examples ?? {}) as ResponseError["code"][];
    expect(codes.map(statusOf).map(String)).toEqual(codes.map(() => status));
    const limits = { properties: { code: { enum: codes }, status: { enum: [Number(status)] } } };
    expect(schema).toMatchObject({ allOf: [{}, limits] });
    return codes;
  });
  const ofList = ["200", "400", "401", "408", "417", "429", "431", "500", "503"];
  expect(Object.keys(paths["/pets"].get.responses)).toEqual(ofList);
  // OpenAPI has no place for responses to requests that match no operation.
  const elsewhere = ["not_found", "method_not_allowed"];
  for (const code of elsewhere)
    expect(info.description).toMatch(new RegExp(`\\d{3} with the code\\s+\`${code}\``));
  const all = new Set<string>([...seen, ...elsewhere]);
  expect([...all].sort()).toEqual([...components.schemas.Error.properties.code.enum].sort());
});
