import { expect, test } from "vitest";
import { bundleClient } from "../../client/test/support/bundle.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { hasChromium, HOW_TO_INSTALL, servePage, useChromium } from "./support/chromium.js";
import { newDatabase } from "./support/command.js";
import { sized } from "../../../scripts/test-size.js";
import { openBeside } from "./support/in-process.js";

useBuiltPetstore();
const openPage = useChromium();

/** Runs in the page, with the bundled client. Returns `undefined` for an event that never happens. */
const visit = `async ({ baseUrl, apiKey }) => {
  const text = (value) => JSON.stringify(value, (_, each) => typeof each === "bigint" ? each + "n" : each);
  const events = [];
  const pets = petstore.createPetsClient({ baseUrl, apiKey, onEvent: ({ type }) => events.push(type) });
  const rex = { name: "Rex", categoryId: 9007199254740993n };
  const created = await pets.createPet(rex, { idempotencyKey: "order-1" });
  const again = await pets.createPet(rex, { idempotencyKey: "order-1" });
  await pets.createPet(rex);
  const ids = [];
  for await (const pet of petstore.petsOf(pets, { limit: 1 })) ids.push(pet.isOk() ? pet.value.id : pet.error);
  const refused = await pets.listPets({}, { deadlineSeconds: 1 });
  const aborted = await pets.listPets({}, { signal: AbortSignal.abort() });
  return text({ created, again, ids, refused, aborted, events });
}`;

test.runIf(sized(0, 1, 1))(
  "in a page of another origin, the client creates, pages, and stops at its limit",
  async ({ skip }) => {
    skip(!hasChromium, HOW_TO_INSTALL);
    const { code } = await bundleClient("iife");
    const script = Buffer.from(code).toString();
    const icon = '<link rel="icon" href="data:,">';
    const shop = await servePage(
      `<!doctype html><title>Shop</title>${icon}<script>${script}</script>`,
    );

    const database = newDatabase();
    const store = await openBeside(database);
    const limits = { perMinute: 5, perDay: 100 };
    const issued = await store.keys.issue({ plan: "enterprise", limits });
    const apiKey = issued._unsafeUnwrap().secret;
    const { url } = await startServer("--database", database, "--cors", shop);
    const { page, offences } = await openPage(shop, {}, [new URL(url).origin]);

    const visited: string = await page.evaluate(
      `(${visit})(${JSON.stringify({ baseUrl: url, apiKey })})`,
    );
    expect(JSON.parse(visited)).toMatchObject({
      created: { value: { pet: { id: "1n", categoryId: "9007199254740993n" }, replayed: false } },
      again: { value: { pet: { id: "1n" }, replayed: true, quota: { limit: 5, remaining: 3 } } },
      ids: ["1n", "2n"],
      refused: { error: { code: "rate_limit_exceeded", quota: { remaining: 0 } } },
      aborted: { error: { code: "aborted" } },
      events: Array(5).fill(["request", "response"]).flat(),
    });
    expect(offences).toEqual([]);
    expect((await store.trusted.listPets())._unsafeUnwrap().pets).toHaveLength(2);
  },
);
