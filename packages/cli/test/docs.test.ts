import { createServer, request as httpRequest, type Server } from "node:http";
import { bundleClient } from "../../client/test/support/bundle.js";
import { openApiDocument } from "@petstore/http-adapter";
import type { Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { indentJson } from "../src/serve/docs/page/plugins.js";
import { inCi } from "../../../scripts/test-size.js";
import { BLOCK_SITE_DATA, useChromium, violationsOn } from "./support/chromium.js";
import { databaseWithKey, issueKey, ownPlan, serveHere, useServerHere } from "./support/command.js";
import { listen } from "../../client/test/support/stores.js";
import { sendUntilClosed } from "./support/raw-client.js";

const server = useServerHere();
const originOf = (): string => new URL(server().url).origin;
const get = (path: string, init: RequestInit = {}) => fetch(originOf() + path, init);

it("petstore serve, outside /v1, serves the OpenAPI document as JSON", async () => {
  const response = await get("/openapi.json?fresh");
  const types = ["content-type", "access-control-allow-origin"];
  expect(types.map((name) => response.headers.get(name))).toEqual(["application/json", "*"]);
  expect(await response.json()).toEqual(openApiDocument);
});

it("petstore serve, outside /v1, serves every file of the page, with its type and a content security policy", async () => {
  const page = await get("/docs");
  const html = await page.text();
  expect(html).toContain("<title>Pet Store");
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|https?:\/\/(?!www\.w3)/);
  const named = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, name]) => `/${name}`);
  expect(named).toHaveLength(5);
  const responses = await Promise.all([...named, "/docs/plugins.js"].map((name) => get(name)));
  for (const { status, url, headers } of [page, ...responses]) {
    expect(status).toBe(200);
    const [, extension = "html"] = /\.(\w+)$/.exec(url) ?? [];
    const type = extension === "js" ? "javascript" : extension;
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": type === "svg" ? "image/svg+xml" : `text/${type}; charset=utf-8`,
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
  }
});

it("petstore serve, outside /v1, responds 304 to a client that has the file, and to HEAD without a body", async () => {
  const css = (init: RequestInit) => get("/docs/swagger-ui.css", init);
  const head = await css({ method: "HEAD" });
  expect(Number(head.headers.get("content-length"))).toBeGreaterThan(10_000);
  expect(await head.text()).toBe("");
  const etag = head.headers.get("etag") ?? "";
  for (const known of [etag, `"other", W/${etag}`, "*"]) {
    const again = await css({ headers: { "if-none-match": known } });
    const [kept, type] = ["etag", "content-type"].map((name) => again.headers.get(name));
    expect([again.status, kept, type]).toEqual([304, etag, null]);
  }
  expect((await css({ headers: { "if-none-match": '"other"' } })).status).toBe(200);
});

it("petstore serve, outside /v1, redirects / and /docs/ to the page, and /favicon.ico to its icon", async () => {
  const files = { "/": "docs", "/docs/": "../docs", "/favicon.ico": "docs/favicon.svg" };
  for (const [path, file] of Object.entries(files)) {
    const { status, headers } = await get(path, { redirect: "manual" });
    expect([status, headers.get("location")]).toEqual([302, file]);
  }
});

it("petstore serve, outside /v1, responds to other methods with 405, Allow and an Error", async () => {
  for (const path of ["/docs", "/openapi.json", "/"]) {
    const response = await get(path, { method: "POST", body: "x" });
    const sent = ["allow", "connection", "content-type"].map((name) => response.headers.get(name));
    expect([response.status, ...sent]).toEqual([405, "GET, HEAD", "close", "application/json"]);
    expect(await response.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
  }
});

it("petstore serve, outside /v1, responds to every other path as the adapter does", async () => {
  const outside = ["/dogs", "/docs/index.html", "/docs/../package.json", "/docs/%2e%2e/x"];
  for (const path of [...outside, "//docs"]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const response = await sendUntilClosed(originOf(), request);
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
    expect(response).toContain("X-RateLimit-Remaining: 60");
    expect(response).toContain('{"code":"not_found"');
  }
});

it("the docs page indents JSON as JSON.stringify does, and keeps every digit", () => {
  const value = [{}, [[]], { b: -1.5 }, '[{,:}"\\', null, [1, { a: "" }]];
  for (const each of [value, ...value])
    expect(indentJson(JSON.stringify(each))).toBe(JSON.stringify(each, null, "  "));
  const indented = '{\n  "id": 9223372036854775807,\n  "n": 1.0\n}';
  expect(indentJson('{"id":9223372036854775807, "n":1.0}')).toBe(indented);
});

function operation(page: Page, id: string) {
  const block = page.locator(`#operations-pets-${id}`);
  const execute = () => block.getByRole("button", { name: "Execute" }).click();
  return {
    block,
    open: () => block.locator(".opblock-summary-control").click(),
    execute,
    /** Sends the request. Resolves to what the page shows of the response, which has this status. */
    respond: async (status: number) => {
      await execute();
      const response = block.locator(".live-responses-table").first();
      await response.locator(".response-col_status", { hasText: String(status) }).waitFor();
      return response.innerText();
    },
  };
}

const originOn = async (server: Server) => new URL(await listen(server)).origin;

const servePage = (html: string) =>
  originOn(
    createServer((_, response) => {
      response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
    }),
  );

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

describe.runIf(inCi)("a browser", () => {
  const openPage = useChromium();

  it("shows the docs page to a person who is refused without a key, authorises, adds a pet and lists it", async () => {
    const { page, offences } = await openPage(`${originOf()}/`);
    const listPets = operation(page, "listPets");
    const createPet = operation(page, "createPet");
    expect(await page.title()).toContain("Pet Store");
    await page.getByText("petstore keys issue").waitFor();
    await page.getByRole("cell", { name: "10,000" }).waitFor();

    await createPet.open();
    const refused = await createPet.respond(401);
    expect(refused).toContain('"missing_api_key"');
    expect(refused).toMatch(/www-authenticate: Bearer realm="petstore"/);

    const { secret } = await issueKey(server().database);
    const authorize = page.getByRole("button", { name: "Authorize" }).first();
    const dialog = page.locator(".modal-ux");
    await authorize.click();
    await dialog.getByRole("textbox").fill(secret);
    await dialog.getByRole("button", { name: "Apply credentials" }).click();
    await dialog.getByRole("button", { name: "Close" }).click();
    const pet = '{ "name": "Rex", "categoryId": 9223372036854775807, "status": "sold" }';
    await createPet.block.locator("textarea").fill(pet);
    expect(await createPet.block.getByPlaceholder("Idempotency-Key").inputValue()).toBe("");
    const created = await createPet.respond(201);
    expect(created).toContain('"categoryId": 9223372036854775807');
    expect(created).toContain("location: /v1/pets/1");

    await listPets.open();
    const listed = await listPets.respond(200);
    expect(listed).toContain('[\n  {\n    "id": 1,\n    "name": "Rex",');
    expect(listed).toMatch(/x-ratelimit-limit: 60\b[^]*-remaining: 58\b[^]*-reset: \d{10}\b/);

    await listPets.block.getByPlaceholder("after").fill("x");
    await listPets.execute();
    await listPets.block.getByText("Value must be an integer").waitFor();
    expect(await listPets.block.locator(".live-responses-table").count()).toBe(0);

    expect(await page.locator("body").innerText()).toContain("This tab keeps your key");
    await page.goto(`${originOf()}/docs`);
    await authorize.click();
    await dialog.getByRole("button", { name: "Remove authorization" }).click();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("pet_live_");
    expect(offences).toEqual([]);
  });

  it("on the docs page sends requests through a proxy that strips a prefix, also where site data is blocked, and shows the operations at once", async () => {
    const proxy = createServer((request, response) => {
      const { method, headers, url = "" } = request;
      const options = { method, headers, path: url.replace("/shop", "") };
      const forwarded = httpRequest(originOf(), options, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    const { page: first, offences } = await openPage(`${await originOn(proxy)}/shop/docs`);
    const page = await first.context().newPage();
    await page.addInitScript(BLOCK_SITE_DATA);
    await page.goto(first.url());
    const listPets = operation(page, "listPets");
    expect((await listPets.block.boundingBox())?.y).toBeLessThan(850);
    await listPets.open();
    expect(await listPets.respond(401)).toContain('"missing_api_key"');
    expect(await listPets.block.innerText()).toContain("/shop/v1/pets?");
    expect(offences).toEqual([]);
  });

  it("does not scroll the docs page sideways on a phone, and every text can be read, light and dark", async () => {
    const { page, offences } = await openPage(`${originOf()}/docs`);
    await page.setViewportSize({ width: 375, height: 700 });
    const clickAll = (selector: string) =>
      page.evaluate(`document.querySelectorAll("${selector}").forEach((each) => each.click())`);
    await page.locator(".opblock").first().waitFor();
    await clickAll(".opblock-summary-control");
    await operation(page, "listPets").execute();
    await page.locator(".live-responses-table").waitFor();
    await clickAll(".tablinks[data-name=model]");
    await clickAll(".auth-wrapper .authorize");
    await page.locator(".modal-ux").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    const cut =
      "[...document.querySelectorAll('.headers td, .parameters td')].filter((e) => e.scrollWidth > e.clientWidth)";
    expect(await page.evaluate(`${cut}.map((each) => each.className)`)).toEqual([]);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await vi.waitFor(async () => {
        const color = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(color).toMatch(colorScheme === "light" ? /2\d\d\)$/ : /\b\d\d\)$/);
        expect(await violationsOn(page, "color-contrast")).toEqual([]);
      }, 60_000);
    }
    expect(offences).toEqual([]);
  });

  it("with serve --cors, a page of another origin uses the client, which creates once, pages, and stops at its limit; a page of a third origin reads only the OpenAPI document", async () => {
    const { code } = await bundleClient("iife");
    const script = `<script>${Buffer.from(code).toString()}</script>`;
    const shop = await servePage(`<!doctype html><link rel="icon" href="data:,">${script}`);
    const { database, secret } = await databaseWithKey(...ownPlan(5, 100));
    const { url } = await serveHere("--database", database, "--cors", shop);
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
});
