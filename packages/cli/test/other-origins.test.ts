import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { bundleClient } from "../../client/test/support/bundle.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { useChromium } from "./support/chromium.js";
import { issueKey, newDatabase } from "./support/command.js";
import { portOf } from "../../../scripts/ports.js";

useBuiltPetstore();
const openPage = useChromium();

/** Serves this HTML on an origin of its own for the length of a test. Resolves to the origin. */
async function servePage(html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await portOf(server)}`;
}

/** Runs in a page with the bundled client. */
const USE_CLIENT = `async ({ baseUrl, apiKey }) => {
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

it("with serve --cors, a page of another origin uses the client, which creates once, pages, and stops at its limit; a page of a third origin reads only the OpenAPI document", async () => {
  const { code } = await bundleClient("iife");
  const script = `<script>${Buffer.from(code).toString()}</script>`;
  const shop = await servePage(`<!doctype html><link rel="icon" href="data:,">${script}`);
  const database = newDatabase();
  const limits = ["--plan", "enterprise", "--per-minute", "5", "--per-day", "100"];
  const { secret } = await issueKey(database, ...limits);
  const { url } = await startServer("--database", database, "--cors", shop);
  const { origin } = new URL(url);
  const { page, offences } = await openPage(shop, [origin]);
  const options = JSON.stringify({ baseUrl: url, apiKey: secret });
  const used: string = await page.evaluate(`(${USE_CLIENT})(${options})`);
  expect(JSON.parse(used)).toMatchObject({
    created: { value: { pet: { id: "1n", categoryId: "9007199254740993n" }, replayed: false } },
    again: { value: { pet: { id: "1n" }, replayed: true, quota: { limit: 5, remaining: 3 } } },
    ids: ["1n", "2n"],
    refused: { error: { code: "rate_limit_exceeded", quota: { remaining: 0 } } },
    aborted: { error: { code: "aborted" } },
    events: Array(5).fill(["request", "response"]).flat(),
  });
  expect(offences).toEqual([]);

  const third = await openPage(await servePage("<!doctype html>"), [origin]);
  const list = `fetch("${url}/pets", { headers: { Authorization: "Bearer ${secret}" } })`;
  await expect(third.page.evaluate(list)).rejects.toThrow("Failed to fetch");
  const document = `fetch("${origin}/openapi.json").then((response) => response.json())`;
  expect(await third.page.evaluate(document)).toHaveProperty("openapi", "3.1.0");
});
