import { createServer } from "node:http";
import { createPetStore, type PetStore } from "@petstore/core";
import { clientAddressBehind, createFetchHandler, createNodeHandler } from "@petstore/http-adapter";
import { createPetStoreServer, mount } from "@petstore/http-adapter";
import { describe, expect, test } from "vitest";

const store = createPetStore();

const wrongOrigins =
  "shop.example https://shop.example/ https://Shop.example ftp://a.example https://*.example *";
const origins = ["https://shop.example", ...wrongOrigins.split(" ").map((origin) => [origin])];
const wrongValues: Readonly<Record<string, readonly unknown[]>> = {
  basePath: [..."v1 / /v1/ //v1 /v1//x /a?b /a#b /../v1 /./v1 /v1/..".split(" "), "/a b", 7, null],
  maxBodyBytes: [0, 1.5, "1kb"],
  maxBodySeconds: [0, 86_401, "10s"],
  onError: [true],
  onResponse: ["log"],
  clientAddress: ["x-forwarded-for"],
  clock: [5],
  basepath: ["/v1"],
  requestIds: ["yes"],
  cors: [{}, ...origins.map((each) => ({ origins: each }))],
};
const wrong = Object.entries(wrongValues).flatMap(([option, values]) =>
  values.map((value): [option: string, value: unknown] => [option, value]),
);

describe.each<[name: string, create: (none: PetStore, options?: object) => unknown]>([
  ["createPetStoreServer", createPetStoreServer],
  ["mount", (none, options) => mount(createServer(), none, options)],
  ["createNodeHandler", createNodeHandler],
  ["createFetchHandler", createFetchHandler],
])("%s", (_, create) => {
  test.each(wrong)("refuses the option %s of %j, and names it", (option, value) =>
    expect(() => create(store, { [option]: value })).toThrow(new RegExp(`option ${option}[. ]`)),
  );

  test.each(["", "/v1", "/a/b/c/v1", "/caf%C3%A9/v1", "/...", "/.x", undefined])(
    "accepts the base path %j",
    (basePath) => expect(() => create(store, { basePath })).not.toThrow(),
  );

  test("refuses a value that is not an object of options, and what is no store", () => {
    expect(() => create(store, null as never)).toThrow(/the options must be an object/);
    for (const none of [undefined, null, {}, { as: 1, anonymousQuota: 2 }] as unknown[])
      expect(() => create(none as PetStore)).toThrow(/store must be a store/);
  });
});

test.each(["", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "10.0.0.1:80"])(
  "%j is refused as a proxy",
  (proxy) => expect(() => clientAddressBehind([proxy])).toThrow(`"${proxy}" is neither`),
);

test.each([
  [{ headersTimeout: 1 }, /headersTimeout is unknown; known are headersTimeoutSeconds, /],
  [{ timeoutSeconds: -1 }, /option limits.timeoutSeconds must be from 0 to 2,147,483/],
  // Node would take it for 1 ms.
  [{ requestTimeoutSeconds: 2_147_484 }, /requestTimeoutSeconds must be/],
  [{ headersTimeoutSeconds: 20 }, /requestTimeoutSeconds must not be under/],
  [{ maxHeaderSize: "16k" }, /maxHeaderSize must be/],
  [5, /limits must be an object/],
])("the limits of a server must not be %j", (limits, message) =>
  expect(() => createPetStoreServer(store, { limits: limits as object })).toThrow(message),
);
