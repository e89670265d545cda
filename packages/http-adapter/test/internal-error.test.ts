import { createServer } from "node:http";
import type { PetStore } from "@petstore/core";
import { createPetStoreServer, mount } from "@petstore/http-adapter";
import { ResultAsync } from "neverthrow";
import { expect, test } from "vitest";
import { compose, listen, makeStore } from "./support/serve.js";

const bug = new Error("a bug with a /secret/path");

test.each<[what: string, broken: Partial<PetStore>]>([
  ["throws", { as: fail }],
  ["rejects", { as: (): never => ({ admit: reject, listPets: reject }) as never }],
])(
  "an engine that %s is 500 internal_error with all headers, and a reported error",
  async (_, broken) => {
    const { store, key } = await makeStore();
    const causes: unknown[] = [];
    const server = createServer();
    mount(server, { ...store, ...broken }, { onError: (cause) => causes.push(cause) });
    const { call } = await listen(server, key);

    const { status, headers, body } = await call();
    expect(status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ code: "internal_error", status: 500 });
    expect(body).not.toContain("secret");
    expect(headers).toMatchObject({ "x-ratelimit-limit": "60", "x-ratelimit-remaining": "60" });
    expect(causes).toEqual([bug]);
  },
);

test("an error of onError does not change the response", async () => {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, { ...store, as: fail }, { onError: fail });
  const { call } = await listen(server, key);
  expect((await call()).status).toBe(500);
});

test("when even the quota is unknown, the connection ends", async () => {
  const { store, key } = await makeStore();
  const causes: unknown[] = [];
  const broken = { ...store, as: fail, anonymousQuota: fail };
  const server = createPetStoreServer(broken, { onError: (cause) => causes.push(cause) });
  const { dial } = await listen(server, key);
  for (const bytes of [compose({}), "nonsense\r\n\r\n", compose({ path: "/" })]) {
    const wire = await dial();
    wire.send(bytes);
    expect(await wire.rest()).toBe("");
  }
  expect(causes.length).toBeGreaterThanOrEqual(3);
});

function fail(): never {
  throw bug;
}

function reject(): ResultAsync<never, never> {
  return new ResultAsync(Promise.reject(bug));
}

test("an onError that rejects ends nothing", async () => {
  const { store, key } = await makeStore();
  const rejections: unknown[] = [];
  const note = (cause: unknown): void => void rejections.push(cause);
  process.on("unhandledRejection", note);
  const server = createServer();
  mount(
    server,
    { ...store, as: fail },
    { onError: () => Promise.reject(bug) as unknown as undefined },
  );
  const { call } = await listen(server, key);
  expect((await call()).status).toBe(500);
  expect((await call()).status).toBe(500);
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});
