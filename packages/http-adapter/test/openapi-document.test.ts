import { standardPlans } from "@petstore/core";
import { openApiDocument, statusOf } from "@petstore/http-adapter";
import type { ResponseError } from "@petstore/http-adapter/internal";
import { operations as facts } from "@petstore/wire";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { inCi } from "../../../scripts/test-size.js";
import { documentOnTheWire } from "./support/openapi.js";

const { paths, components } = openApiDocument;

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

test("it is version 1.0.0 below /v1, and every operation takes a bearer key", () => {
  expect(openApiDocument).toMatchObject({
    info: { version: "1.0.0" },
    servers: [{ url: "v1" }],
    security: [{ apiKey: [] }],
    components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
  });
});

test("it has the three operations by their names, getPet deprecated with the date, and HEAD", () => {
  const operations = Object.values(paths).flatMap((path) => Object.entries(path));
  expect(operations.map(([method, { operationId }]) => `${method} ${operationId}`).sort()).toEqual([
    "get getPet",
    "get listPets",
    "head headPet",
    "head headPets",
    "post createPet",
  ]);
  const known: Readonly<Record<string, object>> = paths;
  for (const { method, path } of Object.values(facts))
    expect(known[path]).toHaveProperty(method.toLowerCase());
  for (const { deprecated, description } of Object.values(paths["/pets/{petId}"])) {
    expect(deprecated).toBe(true);
    expect(description).toContain("5 December 2030");
  }
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

test("the body of createPet is required", () => {
  expect(openApiDocument.paths["/pets"].post.requestBody).toMatchObject({ required: true });
});

test("the description shows the limits of every standard plan", () => {
  const count = (limit: number): string => limit.toLocaleString("en-US");
  for (const [name, plan] of Object.entries(standardPlans)) {
    const limits = plan === "custom" ? [plan, plan] : [plan.perMinute, plan.perDay].map(count);
    expect(openApiDocument.info.description).toContain(`| ${[name, ...limits].join(" | ")} |`);
  }
});

test("every error code is documented, under its status alone", () => {
  const seen = new Set<string>();
  const { get, post } = paths["/pets"];
  const responses = [get, post, paths["/pets/{petId}"].get].flatMap((operation) =>
    Object.entries(operation.responses),
  );
  for (const [status, { content }] of responses.filter(([name]) => Number(name) >= 400)) {
    const { schema, examples } = content?.["application/json"] ?? { schema: {}, examples: {} };
    const codes = Object.keys(examples) as ResponseError["code"][];
    for (const code of codes) seen.add(code);
    expect(codes.map(statusOf).map(String)).toEqual(codes.map(() => status));
    const limits = { properties: { code: { enum: codes }, status: { enum: [Number(status)] } } };
    expect(schema).toMatchObject({ allOf: [{}, limits] });
  }
  // OpenAPI has no place for responses to requests that match no operation.
  for (const code of ["not_found", "method_not_allowed"]) {
    seen.add(code);
    const said = new RegExp(`\\d{3} with the code\\s+\`${code}\``);
    expect(openApiDocument.info.description).toMatch(said);
  }
  expect([...seen].sort()).toEqual([...components.schemas.Error.properties.code.enum].sort());
});
