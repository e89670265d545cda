import { describe, expect, it } from "vitest";
import { bundleClient } from "../../client/test/support/bundle.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { describeInChromium, servePage } from "./support/chromium.js";
import { newDatabase } from "./support/command.js";
import { sized } from "../../../scripts/test-size.js";
import { openBeside } from "./support/open-beside.js";

useBuiltPetstore();

/** Runs in a page: sends a request, and reads all that the browser lets a page read. */
const READ = `async ({ url, method, key, more, body }) => {
  const headers = { Authorization: "Bearer " + key, ...more };
  const response = await fetch(url, { method, headers, body });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.json(),
  };
}`;

/** What a page reads of a response. */
interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
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

/** A page of a shop, a server that it may call, and a key with five requests. */
async function serveShop(script = "") {
  const icon = '<link rel="icon" href="data:,">';
  const shop = await servePage(
    `<!doctype html><title>Shop</title>${icon}<script>${script}</script>`,
  );
  const database = newDatabase();
  const store = await openBeside(database);
  const limits = { perMinute: 5, perDay: 100 };
  const issued = await store.keys.issue({ plan: "enterprise", limits });
  const { url } = await startServer("--database", database, "--cors", shop);
  return { shop, store, key: issued._unsafeUnwrap().secret, url, origin: new URL(url).origin };
}

describe.runIf(sized(0, 1, 1))("with serve --cors", () => {
  describeInChromium("a page of another origin", (openPage) => {
    it("lists, creates once, reads the limits and survives a 429", async () => {
      const { shop, key, url, origin } = await serveShop();
      const { page, offences } = await openPage(shop, {}, [origin]);
      const send = (method: string, path: string, more = {}, body?: string): Promise<Read> =>
        page.evaluate(`(${READ})(${JSON.stringify({ url: url + path, method, key, more, body })})`);
      const once = { "Content-Type": "application/json", "Idempotency-Key": "order-1" };
      const rex = '{"name":"Rex","categoryId":7}';

      const created = await send("POST", "/pets", once, rex);
      expect(created).toMatchObject({
        ...{ status: 201, body: { id: 1 } },
        headers: { location: "/v1/pets/1", "x-ratelimit-remaining": "4" },
      });
      const replayed = await send("POST", "/pets", once, rex);
      expect(replayed.headers).toMatchObject({ "idempotent-replayed": "true" });
      await send("POST", "/pets", { ...once, "Idempotency-Key": "order-2" }, rex);
      const listed = await send("GET", "/pets?limit=1");
      expect(listed).toMatchObject({ status: 200, body: [{ name: "Rex" }] });
      expect(listed.headers["link"]).toContain('rel="next"');
      expect((await send("GET", "/pets/1")).headers).toHaveProperty("sunset");
      const refused = await send("GET", "/pets");
      expect(refused).toMatchObject({ status: 429, body: { code: "rate_limit_exceeded" } });
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect(refused.headers).toHaveProperty("x-ratelimit-reset");
      expect(offences).toEqual([]);

      const stranger = await openPage(await servePage("<!doctype html>"), {}, [origin]);
      const read = `(${READ})(${JSON.stringify({ url: `${url}/pets`, key })})`;
      await expect(stranger.page.evaluate(read)).rejects.toThrow("Failed to fetch");
      const document = `fetch("${origin}/openapi.json").then((response) => response.json())`;
      expect(await stranger.page.evaluate(document)).toHaveProperty("openapi", "3.1.0");
    });

    it("uses the client, which creates, pages, and stops at its limit", async () => {
      const { code } = await bundleClient("iife");
      const { shop, store, key, url, origin } = await serveShop(Buffer.from(code).toString());
      const { page, offences } = await openPage(shop, {}, [origin]);
      const options = JSON.stringify({ baseUrl: url, apiKey: key });
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
      expect((await store.trusted.listPets())._unsafeUnwrap().pets).toHaveLength(2);
    });
  });
});
