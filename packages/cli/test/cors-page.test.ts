import { expect, test } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { openBeside } from "./support/in-process.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { hasChromium, HOW_TO_INSTALL, servePage, useChromium } from "./support/chromium.js";
import { newDatabase } from "./support/command.js";

useBuiltPetstore();
const openPage = useChromium();

const SHOP = "<!doctype html><title>Shop</title>";

/** The values that the page reads from a response; `undefined` if the browser hides one. */
interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Runs in the page: sends a request and reads all that the browser lets a page read. */
const read = `async ({ url, method, key, more, body }) => {
  const headers = { Authorization: "Bearer " + key, ...more };
  const response = await fetch(url, { method, headers, body });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.json(),
  };
}`;

test.runIf(sized(0, 1, 1))(
  "a page of another origin lists, creates once, reads the limits and survives a 429",
  async ({ skip }) => {
    skip(!hasChromium, HOW_TO_INSTALL);
    const [shop, stranger] = [await servePage(SHOP), await servePage(SHOP)];
    const database = newDatabase();
    const store = await openBeside(database);
    const limits = { perMinute: 5, perDay: 100 };
    const issued = await store.keys.issue({ plan: "enterprise", limits });
    const key = issued._unsafeUnwrap().secret;
    const { url } = await startServer("--database", database, "--cors", shop);
    const { origin } = new URL(url);

    const { page, offences } = await openPage(shop, {}, [origin]);
    const send = (method: string, path: string, more = {}, body?: string): Promise<Read> =>
      page.evaluate(`(${read})(${JSON.stringify({ url: url + path, method, key, more, body })})`);
    const once = { "Content-Type": "application/json", "Idempotency-Key": "order-1" };
    const rex = '{"name":"Rex","categoryId":7}';

    const created = await send("POST", "/pets", once, rex);
    expect(created).toMatchObject({ status: 201, body: { id: 1 } });
    expect(created.headers).toMatchObject({ location: "/v1/pets/1", "x-ratelimit-remaining": "4" });
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

    const other = await openPage(stranger, {}, [origin]);
    const blocked = other.page.evaluate(
      `(${read})(${JSON.stringify({ url: `${url}/pets`, key })})`,
    );
    await expect(blocked).rejects.toThrow("Failed to fetch");
    const document = `fetch("${origin}/openapi.json").then((response) => response.json())`;
    expect(await other.page.evaluate(document)).toHaveProperty("openapi", "3.1.0");
  },
);
