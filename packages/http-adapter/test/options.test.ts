import { createServer } from "node:http";
import {
  createFetchHandler,
  createNodeHandler,
  createPetStoreServer,
  mount,
  SERVER_LIMITS,
} from "@petstore/http-adapter";
import { createPetStore, type PetStore } from "@petstore/core";
import { describe, expect, test } from "vitest";
import { serve } from "./support/serve.js";

const store = createPetStore();

describe.each<[name: string, create: (options: object) => unknown]>([
  ["createPetStoreServer", (options) => createPetStoreServer(store, options)],
  ["mount", (options) => mount(createServer(), store, options)],
  ["createNodeHandler", (options) => createNodeHandler(store, options)],
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
    ["onResponse", "log"],
    ["origin", "x-forwarded-for"],
    ["clock", 5],
    ["basepath", "/v1"],
    ["requestIds", "yes"],
  ])("refuses a wrong %s and names it", (option, value) => {
    expect(() => create({ [option]: value })).toThrow(new RegExp(`option ${option} `));
  });

  test("refuses a value that is not an object of options", () => {
    expect(() => create(null as never)).toThrow(/the options must be an object/);
  });
});

test.each<[name: string, create: (store: PetStore) => unknown]>([
  ["createPetStoreServer", (none) => createPetStoreServer(none)],
  ["mount", (none) => mount(createServer(), none)],
  ["createNodeHandler", (none) => createNodeHandler(none)],
  ["createFetchHandler", (none) => createFetchHandler(none)],
])("%s refuses what is no store", (_, create) => {
  for (const none of [undefined, null, {}, { as: 1, anonymousQuota: 2 }] as unknown[]) {
    expect(() => create(none as PetStore)).toThrow(/store must be a store/);
  }
});

test("an unknown option is refused, and the known ones are named", () => {
  const options: object = { ownsServer: true };
  expect(() => mount(createServer(), store, options)).toThrow(
    /option ownsServer is unknown; known are basePath, /,
  );
});

test("a store lives at any depth", async () => {
  const { call } = await serve({ basePath: "/a/b/v1" });
  expect((await call({ path: "/a/b/v1/pets" })).status).toBe(200);
  expect((await call({ path: "/v1/pets" })).status).toBe(404);
  const body = '{"name":"Rex","categoryId":1}';
  const created = await call({ path: "/a/b/v1/pets", method: "POST", body });
  expect(created.headers["location"]).toBe("/a/b/v1/pets/1");
});

describe("the limits of a server", () => {
  test("treat undefined as left out", () => {
    const limits = { requestTimeout: undefined, headersTimeout: undefined, timeout: 7 };
    const server = createPetStoreServer(store, { limits });
    const { requestTimeout, headersTimeout } = SERVER_LIMITS;
    expect(server).toMatchObject({ requestTimeout, headersTimeout, timeout: 7 });
  });

  test.each([
    [{ headerTimeout: 1 }, /headerTimeout is unknown; known are headersTimeout, /],
    [{ timeout: -1 }, /option limits.timeout must be a non-negative integer/],
    [{ maxHeaderSize: "16k" }, /maxHeaderSize must be/],
    [5, /limits must be an object/],
  ])("must not be %j", (limits, message) =>
    expect(() => createPetStoreServer(store, { limits: limits as object })).toThrow(message),
  );
});
