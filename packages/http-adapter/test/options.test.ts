import { createServer } from "node:http";
import {
  createFetchHandler,
  createHardenedServer,
  createKoaMiddleware,
  createNodeHandler,
  mount,
  SERVER_LIMITS,
} from "@petstore/http-adapter";
import { createPetStore, type PetStore } from "@petstore/core";
import { describe, expect, test } from "vitest";
import { serve } from "./support/serve.js";

const store = createPetStore();

describe.each<[name: string, create: (options: object) => unknown]>([
  ["mount", (options) => mount(createServer(), store, options)],
  ["createNodeHandler", (options) => createNodeHandler(store, options)],
  ["createKoaMiddleware", (options) => createKoaMiddleware(store, options)],
  ["createFetchHandler", (options) => createFetchHandler(store, options)],
])("%s", (_, create) => {
  test.each([
    "v1",
    "/",
    "/v1/",
    "//v1",
    "/v1//x",
    "/a?b",
    "/a#b",
    "/a b",
    "/../v1",
    "/./v1",
    "/v1/..",
    7,
    null,
  ])("refuses the base path %j and names the option", (basePath) =>
    expect(() => create({ basePath })).toThrow(/option basePath must/),
  );

  test.each(["", "/v1", "/api/v1", "/a/b/c/v1", "/caf%C3%A9/v1", "/...", "/.x", undefined])(
    "accepts the base path %j",
    (basePath) => expect(() => create({ basePath })).not.toThrow(),
  );

  test.each([
    ["maxBodyBytes", 0],
    ["maxBodyBytes", 1.5],
    ["maxBodyBytes", "1kb"],
    ["maxBodySeconds", 0],
    ["maxBodySeconds", Number.POSITIVE_INFINITY],
    ["maxBodySeconds", "10s"],
    ["onError", true],
    ["origin", "x-forwarded-for"],
    ["basepath", "/v1"],
  ])("refuses a wrong %s and names it", (option, value) => {
    expect(() => create({ [option]: value })).toThrow(new RegExp(`option ${option} `));
  });
});

test("a store lives at any depth", async () => {
  const { call } = await serve({ basePath: "/a/b/v1" });
  expect((await call({ path: "/a/b/v1/pets" })).status).toBe(200);
  expect((await call({ path: "/v1/pets" })).status).toBe(404);
  const body = '{"name":"Rex","categoryId":1}';
  const created = await call({ path: "/a/b/v1/pets", method: "POST", body });
  expect(created.headers["location"]).toBe("/a/b/v1/pets/1");
});

test("mount refuses a wrong ownsServer and names it", () => {
  const options: object = { ownsServer: "yes" };
  expect(() => mount(createServer(), store, options)).toThrow(/option ownsServer must/);
});

test.each<[name: string, create: (store: PetStore) => unknown]>([
  ["mount", (none) => mount(createServer(), none)],
  ["createNodeHandler", (none) => createNodeHandler(none)],
  ["createKoaMiddleware", (none) => createKoaMiddleware(none)],
  ["createFetchHandler", (none) => createFetchHandler(none)],
])("%s refuses what is no store", (_, create) => {
  for (const none of [undefined, null, {}, { as: 1, anonymousQuota: 2 }] as unknown[]) {
    expect(() => create(none as PetStore)).toThrow(/store must be a store/);
  }
});

describe("createHardenedServer", () => {
  test("takes an undefined limit for one that is left out", () => {
    const limits = { requestTimeout: undefined, headersTimeout: undefined, timeout: undefined };
    const { requestTimeout, headersTimeout, timeout } = createHardenedServer(limits);
    expect({ requestTimeout, headersTimeout, timeout }).toEqual({
      requestTimeout: SERVER_LIMITS.requestTimeout,
      headersTimeout: SERVER_LIMITS.headersTimeout,
      timeout: SERVER_LIMITS.timeout,
    });
  });

  test.each([
    [{ headerTimeout: 1 }, /headerTimeout is unknown; known are headersTimeout, /],
    [{ timeout: -1 }, /timeout must be a non-negative integer/],
    [{ maxHeaderSize: "16k" }, /maxHeaderSize must be/],
  ])("refuses %j", (limits: object, message) =>
    expect(() => createHardenedServer(limits)).toThrow(message),
  );
});
