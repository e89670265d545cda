// Every error of a caller, word for word: clients show them to people.
import { createMemoryStorage, type PetStoreError } from "@petstore/core";
import { expect, it } from "vitest";
import { error, openStore, value, type TestStore } from "./support/open-store.js";

const rex = { name: "Rex", categoryId: 7n };
const LIMITED = { plan: "enterprise", limits: { perMinute: 1, perDay: 9 } };

async function limited({ store, issue }: TestStore, ban: boolean): Promise<PetStoreError> {
  const caller = store.as((await issue(LIMITED)).secret);
  for (let request = 0; request < (ban ? 2 : 1); request += 1) await caller.listPets();
  return error(await caller.listPets());
}

const rows: readonly [string, string, (opened: TestStore) => Promise<PetStoreError>][] = [
  [
    "missing_api_key",
    "An API key is required: send it as a bearer token.",
    async ({ store }) => error(await store.as(undefined).listPets()),
  ],
  [
    "invalid_api_key",
    "The API key is not valid.",
    async ({ store }) => error(await store.as("x").listPets()),
  ],
  [
    "rate_limit_exceeded",
    "The limit of 1 request per minute is used up; come back in 60 seconds.",
    (opened) => limited(opened, false),
  ],
  [
    "rate_limit_exceeded",
    "The limit of 60 requests per minute is used up; come back in 1 second.",
    async ({ store, clock }) => {
      for (let request = 0; request < 60; request += 1) await store.as("x").listPets();
      clock.advance(59_999);
      return error(await store.as("x").listPets());
    },
  ],
  [
    "api_key_banned",
    "The API key kept sending after refusals and is banned for a while; come back in 60 seconds.",
    (opened) => limited(opened, true),
  ],
  [
    "invalid_idempotency_key",
    'The idempotency key must be one value of 1 to 255 visible ASCII characters; over HTTP, a key with ", comma, semicolon or backslash needs quotes.',
    async ({ store }) => error(await store.trusted.createPet(rex, { idempotencyKey: "" })),
  ],
  [
    "idempotency_key_reused",
    "The idempotency key was used before, for another pet.",
    async ({ store: { trusted } }) => {
      value(await trusted.createPet(rex, { idempotencyKey: "a" }));
      return error(await trusted.createPet({ ...rex, name: "Ada" }, { idempotencyKey: "a" }));
    },
  ],
  [
    "pet_not_found",
    "No pet has this id.",
    async ({ store }) => error(await store.trusted.getPet(1n)),
  ],
  [
    "storage_unavailable",
    "The storage is unavailable; nothing was done. Try again shortly.",
    async () => {
      const { pets, ...rest } = createMemoryStorage();
      const find = () => expect.fail("broken");
      const { store } = openStore({ storage: { ...rest, pets: { ...pets, find } } });
      return error(await store.trusted.getPet(1n));
    },
  ],
  [
    "store_closed",
    "The store is closed.",
    async ({ store }) => {
      value(await store.close());
      return error(await store.trusted.listPets());
    },
  ],
];

it.each(rows)("%s: %s", async (code, message, fail) => {
  const opened = openStore({ ban: { graceSeconds: 0, afterRefusals: 1 } });
  expect(await fail(opened)).toMatchObject({ code, message });
});

it("the errors of managing keys", async () => {
  const { store, issue } = openStore();
  const { id } = await issue();
  expect(error(await store.keys.find("x")).message).toBe("No API key has this id.");
  value(await store.keys.revoke(id));
  expect(error(await store.keys.rotate(id)).message).toBe("The API key is revoked or expired.");
});
