import { createServer } from "node:http";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { createConsole } from "@petstore/console";
import { createManualClock, createPetStore } from "@petstore/core";
import type { PetStore, PetStoreOptions } from "@petstore/core";
import type { Page, Request } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";
import { inCi, sized } from "../../../../scripts/test-size.js";
import { root, startConsole, useBuiltPetstore } from "../support/built-petstore.js";
import { BLOCK_SITE_DATA, useChromium, violationsOn } from "../support/chromium.js";
import { newDatabase, openBeside } from "../support/command.js";
import { button, createDemoStore, dialog, link, perform } from "./demo.js";
import { screenOf, STATES } from "./screens.js";

useBuiltPetstore();

/** Serves the console of a store in this process, on a free port or on this one, until it is closed or the test ends. */
async function serveConsole(store: PetStore, port = 0) {
  const actor = `admin@${"long.".repeat(pictures ? 0 : 9)}example.com`;
  const handle = createConsole(store, { actor });
  const listener = getRequestListener(handle, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${await portOf(server, port)}/console/`, close };
}

const rowOf = (page: Page, label: string) => page.getByRole("row").filter({ hasText: label });
const IS_WIDE = "document.documentElement.scrollWidth > innerWidth";
/** Where the pictures of the documents are, if they are to be made anew: `npm run screenshots`. */
const pictures = process.env["PETSTORE_SCREENSHOTS"];

const openPage = useChromium(5, pictures === undefined ? "Asia/Kolkata" : "UTC");

/** A page that shows the console of a new store in memory, with keys of these labels: `id` and `secret` are the last's. */
async function openNew(labels: readonly string[] = [], options: PetStoreOptions = {}) {
  const store = createPetStore(options);
  const issue = async (label: string) =>
    (await store.keys.issue({ plan: "free", label }))._unsafeUnwrap();
  let { key, secret } = { key: { id: "" }, secret: "" };
  for (const label of labels) ({ key, secret } = await issue(label));
  const { url, close } = await serveConsole(store);
  return { store, issue, id: key.id, secret, url, close, ...(await openPage(url)) };
}

it("issues a key; a person runs into its limit, is found by the secret, and is let back in, until another console takes the port", async () => {
  const database = newDatabase();
  const store = await openBeside(database, { ban: { graceSeconds: 0 } });
  const console = await startConsole(database, "--base-url", "https://pets.example/v1");
  const { page, offences } = await openPage(console.url);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const limits = { "Requests per minute": "3", "Requests per day": "50" };
  const key = { Label: "Happy Paws", Plan: "enterprise", ...limits, Expires: "2031-07-01T12:00" };
  await perform(page, /There is no key yet\./, "Issue a key", key, "Issue");
  await dialog(page).getByRole("button", { name: "Copy", exact: true }).first().click();
  await page.getByText("Copied.").waitFor();
  const secret = await page.evaluate<string>("navigator.clipboard.readText()");
  const { expiresAt } = (await store.keys.findBySecret(secret))._unsafeUnwrap();
  expect(expiresAt).toBe(Date.UTC(2031, 6, 1, 6, 30));
  await page.keyboard.press("Escape");
  await dialog(page).getByText("https://pets.example/v1/pets").waitFor();
  await Promise.all([page.waitForResponse("**/secrets/take"), perform(page, "I have stored it")]);
  for (let count = 0; count < 7; count += 1) await store.as(secret).listPets();
  const banned = rowOf(page, "Happy Paws").getByText(/banned until .* GMT\+5:30$/);
  await banned.waitFor();
  await perform(page, { Search: secret });
  await page.getByRole("heading", { name: "Happy Paws" }).waitFor();
  const id = new URL(page.url()).hash.slice("#keys/".length);
  const json = { code: "storage_unavailable", message: "It is away.", status: 503 };
  await page.route("**/lift-ban", (route) => route.fulfill({ status: 503, json }), { times: 1 });
  await perform(page, "Lift the ban", /It is away\./);
  await page.getByText("It is away.").waitFor({ state: "detached" });
  await perform(page, "Lift the ban");
  await expect.poll(() => screenOf(page)).toContain("»# Happy Paws");
  expect((await store.keys.find(id))._unsafeUnwrap().bannedUntil).toBeUndefined();
  await expect.poll(console.output).toContain(`ban_lifted ${id}`);

  const places = `JSON.stringify([location.href, document.title, history.state, document.cookie,
    localStorage, sessionStorage, performance.getEntries().map(({ name }) => name), document.body.innerHTML])`;
  expect(await page.evaluate(places)).not.toContain(secret.slice(0, 20));
  await page.goBack();
  expect(await page.evaluate(places)).not.toContain(secret.slice(0, 20));
  expect(console.output()).not.toContain(secret.slice(0, 20));
  expect(offences).toEqual([]);

  await console.end("SIGTERM");
  await startConsole(database, "--port", new URL(page.url()).port);
  await page.getByText("This console opens with the link").waitFor();
  await page.reload();
  await page.getByText("This console opens with the link").waitFor();
});

it("rotates, changes the plan and, with the keyboard alone, revokes; it asks before what cannot be undone", async () => {
  const clock = createManualClock();
  const { store, id, secret, page, offences } = await openNew(["acme"], { clock });
  const show = async () => (await store.keys.find(id))._unsafeUnwrap();
  const isAccepted = async (each: string) => (await store.as(each).listPets()).isOk();
  const focused = () => page.evaluate("document.activeElement.textContent");
  const tabTo = async (text: string) => {
    for (let count = 0; count < 40 && (await focused()) !== text; count += 1)
      await page.keyboard.press("Tab");
    expect(await focused()).toBe(text);
  };
  await link(page, "acme").waitFor();
  await tabTo("acme");
  await page.keyboard.press("Enter");

  await perform(page, "Rotate…", "Rotate");
  const rotated = await dialog(page).locator("code").first().innerText();
  expect([await isAccepted(secret), await isAccepted(rotated)]).toEqual([true, true]);
  await perform(page, "I have stored it", /old secret until/, /replaced; accepted until/);

  await perform(page, "End…", "End");
  await page.getByText("replaced; accepted until").waitFor({ state: "detached" });
  expect([await isAccepted(secret), await isAccepted(rotated)]).toEqual([false, true]);

  await perform(page, "Rotate…", { "is accepted": "0" }, "Rotate");
  expect(await isAccepted(rotated)).toBe(true);
  await button(page, `Press again: ${rotated.slice(0, 13)}… ends now`).click();
  await button(page, "I have stored it").waitFor();
  expect([await isAccepted(secret), await isAccepted(rotated)]).toEqual([false, false]);
  await perform(page, "I have stored it");

  await perform(page, "Change plan…", { Plan: "enterprise" }, "Change");
  expect((await show()).plan).toBe("free");
  const limits = { "Requests per minute": "5000", "Requests per day": "9007199254740991" };
  await perform(page, limits, "Change", /5,000 per minute, 9,007,199,254,740,991 per day/);

  const rotate = async (overlapSeconds: number) =>
    (await store.keys.rotate(id, { overlapSeconds }))._unsafeUnwrap().key.hint;
  const [hint] = [await rotate(1), await rotate(86_400)];
  clock.advance(1_000);
  await expect.poll(() => button(page, "End…").count()).toBe(2);
  await store.keys.endSecret(id, hint);
  await expect.poll(() => button(page, "End…").count()).toBe(0);
  await tabTo("Revoke…");
  await page.keyboard.press("Enter");
  await page.keyboard.type("acm");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("Revoke…");
  expect((await show()).revokedAt).toBeUndefined();
  await page.keyboard.press("Enter");
  await page.keyboard.type("acme");
  await page.keyboard.press("Enter");
  const actions = "[Rotate… disabled] [Change plan… disabled] »[Revoke… disabled]";
  await expect.poll(async () => (await screenOf(page)).at(-1)).toBe(actions);
  expect((await show()).revokedAt).toBeDefined();
  const secrets = page.locator("dd", { has: page.getByText("refused since").first() });
  expect(await secrets.innerText()).toMatch(/^(pet_live_\w{4}… refused since .* GMT\+5:30\n?){2}$/);
  expect(offences).toEqual([]);
});

const countOf = async (store: PetStore) => (await store.keys.list())._unsafeUnwrap().keys.length;
const shownSecret = (page: Page) => dialog(page).locator("code").first().innerText();
const back = (page: Page) => page.evaluate("history.back()");

const DISTURBANCES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  back,
  Escape: (page) => page.keyboard.press("Escape"),
  login: (page) => page.getByText(ENDED).waitFor(),
  reload: (page) => page.reload(),
};

const DISTURBED = ["Escape, Escape, reload", "login, reload", "back", "back, reload"];

it.each(DISTURBED.slice(0, sized(2, 4, 4)))("shows a lost secret despite: %s", async (steps) => {
  const { store, url, page: first } = await openNew();
  const page = await first.context().newPage();
  await page.addInitScript(BLOCK_SITE_DATA);
  await page.goto(url);
  await perform(page, "Pets", "Keys");
  await page.route("**/api/keys/issue", async (route) => {
    await route.fetch();
    if (steps.includes("login")) await route.fulfill({ body: "<form>" });
  });
  await perform(page, "Issue a key", { Label: "acme" }, "Issue");
  await expect.poll(() => countOf(store)).toBe(1);
  for (const step of steps.split(", ")) await DISTURBANCES[step]?.(page);
  await page.getByText("The secret is shown only now.").waitFor();
  const secret = await shownSecret(page);
  expect((await store.as(secret).listPets()).isOk()).toBe(true);
  await page.reload();
  await expect.poll(() => shownSecret(page)).toBe(secret);
  await page.evaluate("delete Navigator.prototype.clipboard");
  await button(page, "Copy").first().click();
  await expect.poll(() => page.evaluate("String(getSelection())")).toBe(secret);
  await perform(page, "I have stored it");
  await page.reload();
  await perform(page, "Keys", /acme/);
  expect([await dialog(page).count(), await countOf(store)]).toEqual([0, 1]);
});

/** Holds the responses to this call, or to some requests. Each function of the result releases one, and waits until the page has it. */
async function hold(page: Page, call: string, isHeld: (request: Request) => boolean = () => true) {
  const held: (() => Promise<unknown>)[] = [];
  await page.route(`**/api/${call}`, async (route) => {
    const response = await route.fetch();
    const received = () => page.waitForResponse((each) => each.request() === route.request());
    const release = () => Promise.all([received(), route.fulfill({ response })]);
    if (isHeld(route.request())) held.push(release);
    else await route.fulfill({ response });
  });
  const sent = (count: number) => () => expect.poll(() => held.length).toBe(count);
  return Object.assign(held, { sent });
}

it("shows the secret of the form that is open, when the response of one that was left comes late", async () => {
  const { store, page } = await openNew();
  const held = await hold(page, "keys/issue");
  await perform(page, "Pets", "Keys", "Issue a key", { Label: "first" }, "Issue", held.sent(1));
  await back(page);
  await perform(page, "I have stored it", "Keys", "Issue a key", { Label: "second" }, "Issue");
  await held.sent(2)();
  await held[0]?.();
  await page.waitForResponse("**/api/keys/list");
  expect(await page.getByText("The secret is shown only now.").count()).toBe(0);
  await held[1]?.();
  const secret = await shownSecret(page);
  const { keys } = (await store.keys.list())._unsafeUnwrap();
  expect(keys.find(({ hint }) => secret.startsWith(hint))?.label).toBe("second");
});

it("is neither cancelled nor closed while an action is sent, or when a late look-up of a secret comes, and asks no more about a key that was left", async () => {
  const { secret, page } = await openNew(["acme"]);
  const [found, issued] = [await hold(page, "keys/find-by-secret"), await hold(page, "keys/issue")];
  await perform(page, { Search: secret }, found.sent(1), "Issue a key", "Issue", issued.sent(1));
  await button(page, "Cancel").dispatchEvent("click");
  await page.keyboard.press("Escape");
  expect(await button(page, "Issue").count()).toBe(1);
  await issued[0]?.();
  const made = await shownSecret(page);
  await found[0]?.();
  await page.getByText("The secret belongs to").waitFor();
  expect([await shownSecret(page), new URL(page.url()).hash]).toEqual([made, ""]);
  await perform(page, "I have stored it");
  for (const [index, leave] of [[{ Search: "acme" }], ["Pets"], ["Pets", "Keys"]].entries()) {
    await perform(page, "Keys", { Search: secret }, found.sent(index + 2), ...leave);
    await found[index + 1]?.();
    await page.waitForResponse("**/api/*/list");
    expect(new URL(page.url()).hash).toBe(["#keys", "#pets", "#keys"][index]);
  }

  const changed = await hold(page, "keys/change-plan");
  await perform(page, "Keys", "acme", "Change plan…", "Change", changed.sent(1));
  await back(page);
  await link(page, "acme").waitFor();
  await changed[0]?.();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
  for (let count = 0; count < 3; count += 1) await page.waitForResponse("**/api/keys/list");
  expect(asked).not.toContain("/console/api/keys/find");
});

it("draws no older response over a newer one, turns one page at two clicks, and shows no page that is gone", async () => {
  const { store, page } = await openNew(Array.from({ length: 120 }, (_, key) => `key ${key + 1}`));
  await page.getByText("1 to 50 of 120").waitFor();
  await page.evaluate(`{
    window.seen = [];
    new MutationObserver(() => seen.push(document.querySelector(".pager span")?.textContent))
      .observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);
  const isHeld = (request: Request) => /"key 7"|"page":1/.test(request.postData() ?? "");
  const held = await hold(page, "keys/list", isHeld);
  await perform(page, { Search: "key 7" }, held.sent(1));
  await perform(page, { Search: "key 12" }, /1 to 2 of 2 \(of 120\)/);
  await held[0]?.();
  await page.waitForResponse("**/api/keys/list");

  await perform(page, { Search: "" }, "active 120", /1 to 50 of 120/);
  await button(page, "Next").dblclick();
  await expect.poll(() => held.length).toBe(2);
  await held[1]?.();
  await perform(page, /51 to 100 of 120/, "Next", /101 to 120 of 120/);
  expect(await button(page, "Next").isEnabled()).toBe(false);
  const { keys } = (await store.keys.list())._unsafeUnwrap();
  for (const { id } of keys.slice(-80)) await store.keys.revoke(id);
  await page.getByText("1 to 40 of 40 (of 120)").waitFor();
  const wrong = /\b(1 to 11|51 to 50|101 to 100|\d+ to 0)\b/;
  expect(await page.evaluate("seen.join()")).not.toMatch(wrong);
});

it.each(["a double click", "a held Enter"])("%s makes one secret, and keeps it", async (press) => {
  const { store, page } = await openNew();
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 800 });
    const before = await countOf(store);
    await perform(page, "Issue a key");
    await button(page, "Issue").focus();
    for (let count = 0; count < 30 && press === "a held Enter"; count += 1)
      await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    if (press === "a double click") await button(page, "Issue").dblclick();
    await page.getByText("The secret is shown only now.").waitFor();
    expect(await countOf(store)).toBe(before + 1);
    await perform(page, "I have stored it");
    await expect.poll(() => screenOf(page)).toContain("# Keys »[Issue a key]");
  }
});

it("says that an action may have been done, and does it once when it is sent again", async () => {
  const { store, url, close, page } = await openNew();
  let isLost = true;
  await page.route(/keys.issue|pets.add/, async (route) => {
    const response = await route.fetch();
    if (!isLost) await route.fulfill({ response });
    else if (route.request().url().includes("keys")) await route.abort();
    else await route.fulfill({ status: 500, json: { code: "x", message: "Oh.", status: 500 } });
  });
  const sendTwice = async (name: string, done: string): Promise<void> => {
    for (const text of ["It may have been done.", done]) {
      isLost = text !== done;
      await perform(page, name);
      await dialog(page).getByText(text).waitFor();
    }
  };
  const failed = { status: 503, json: { code: "x", message: "No disk.", status: 503 } };
  await page.route("**/keys/issue", (route) => route.fulfill(failed), { times: 1 });
  await perform(page, "Issue a key", "Issue", /No disk\./);
  await sendTwice("Issue", "The secret is shown only now.");
  await perform(page, "I have stored it", "Pets", "Add a pet", { Category: "7" });
  await sendTwice("Add", "empty name was added with the id 1");
  const { pets } = (await store.trusted.listPets())._unsafeUnwrap();
  await perform(page, "Close", "Keys", "Issue a key");
  isLost = true;
  await perform(page, "Issue", /It may have been done\./);
  close();
  await serveConsole(store, Number(new URL(url).port));
  await perform(page, "Issue", /The console has no outcome of this action/);
  expect([pets.length, await countOf(store)]).toEqual([1, 2]);
});

const ENDED = "The login has ended.";

const INSTEAD: readonly (readonly [string, object | undefined, string])[] = [
  ["a refusal", { status: 403, json: { code: "x", message: "Not now.", status: 403 } }, "Not now."],
  ["the host's 403", { status: 403, body: "Forbidden" }, ENDED],
  ["a login page", { status: 200, contentType: "text/html", body: "<form>" }, ENDED],
  ["a proxy's 502", { status: 502, contentType: "text/html", body: "<h1>Bad" }, "HTTP status 502"],
  ["the host's 401", { status: 401, json: {} }, ENDED],
  ["no response", undefined, "The console does not respond."],
  ["a login elsewhere", { status: 302, headers: { Location: "https://login.example/" } }, ENDED],
];

it.each(INSTEAD.slice(0, sized(3, 7, 7)))("goes on after %s", async (_, response, message) => {
  const { issue, page } = await openNew(["before"]);
  await link(page, "before").waitFor();
  await page.route("**/api/keys/list", (route) =>
    response === undefined ? route.abort() : route.fulfill(response),
  );
  await page.getByRole("alert").getByText(message).waitFor();
  expect(await page.getByText(ENDED).count()).toBe(message === ENDED ? 1 : 0);
  expect(await link(page, "before").count()).toBe(1);
  expect((await screenOf(page)).join()).toContain("(grey)");
  await issue("acme");
  await page.route("**/api/keys/list", async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ response: reply, contentType: "application/json; charset=utf-8" });
  });
  await link(page, "acme").waitFor();
  expect(await page.getByText(message).count()).toBe(0);
});

it("lists pets by status with exact ids, and adds one", async () => {
  const { store, page, offences } = await openNew();
  for (let count = 1; count <= 60; count += 1) {
    const status = count % 2 === 0 ? "sold" : "pending";
    const name = count === 1 ? "" : `Pet ${count}`;
    await store.trusted.createPet({ name, categoryId: 2n ** 63n - 1n, status });
  }
  await perform(page, "Pets", /Ids 1 to 50/, /empty name/);
  await button(page, "Next").dblclick();
  await page.getByText("Ids 51 to 60").waitFor();
  await page.getByLabel("Status").selectOption("sold");
  await perform(page, /Ids 2 to 60/, { "From id": "58" }, /Ids 58 to 60/);
  for (const wrong of ["0", "-1", "1.5", "5 8", "9223372036854775808"]) {
    await perform(page, { "From id": wrong }, /An id is a whole number/);
    expect([wrong, await page.getByRole("table").count()]).toEqual([wrong, 0]);
  }
  await perform(page, { "From id": " 060 " }, /Ids 60 to 60/);

  const pet = { Name: "Rex", Category: "-9223372036854775808", Status: "sold" };
  await perform(page, "Add a pet", pet, "Add", /was added with the id 61/, "Close");
  await perform(page, { "From id": "58" });
  await rowOf(page, "Rex").getByText("-9223372036854775808").waitFor();
  expect(offences).toEqual([]);
});

it.each<[string, string, ...string[]]>([
  ["Issue a key", "keys/list"],
  ["Rotate…", "keys/find", "acme"],
])("reads anew at once when the dialog of %j is closed", async (action, call, ...places) => {
  const { page } = await openNew(["acme"]);
  await perform(page, ...places);
  await button(page, action).waitFor();
  // While its call has no response, for up to 20 seconds, the page does not call again by itself.
  const held = await hold(page, call);
  await perform(page, held.sent(1), action, "Cancel");
  await expect.poll(() => held.length, { timeout: 10_000 }).toBe(2);
});

it("shows hostile labels as text, on a phone too", async () => {
  const labels = [
    `<img src="https://evil.example/x" onerror="alert(1)"><script>alert(2)</script>
          javascript:alert(3)//"'><svg onload=alert(4)>${"W".repeat(60)}`,
    `‮txt.exe‬ ⁦isolated \u0007\u001B[31mred\nsecond line${"🐈‍⬛".repeat(20)}${"𒐫".repeat(30)}`,
    "   ",
  ];
  const { store, page, offences } = await openNew(labels);
  for (const name of [...labels, "n".repeat(3_000)])
    await store.trusted.createPet({ name, categoryId: 1n });
  await store.keys.issue({ plan: "enterprise", limits: { perMinute: 8e15, perDay: 9e15 } });
  await page.setViewportSize({ width: 375, height: 700 });
  for (const [place, shown] of Object.entries({ Pets: /<script>/, Keys: /9,000,000,000/ })) {
    await perform(page, place, shown);
    expect(await page.evaluate(IS_WIDE)).toBe(false);
  }
  expect(await page.locator("tbody").innerText()).toMatch(/(?:no label[^]*){2}�txt.exe� �isolated/);
  for (const index of [1, 2, 3]) {
    await page.locator("tbody a").nth(index).click();
    await perform(page, "Revoke…");
    expect(await page.evaluate(IS_WIDE)).toBe(false);
    const [, wanted = ""] = /type (.*)/.exec(await dialog(page).locator("label").innerText()) ?? [];
    await perform(page, { "To confirm": wanted }, "Revoke", /^revoked/, "All keys");
  }
  expect(offences).toEqual([]);
});

it("shows each of its states as a whole, to a screen reader too, and cuts nothing off", async () => {
  const { page, offences } = await openPage((await serveConsole(await createDemoStore())).url);
  const unused: (readonly string[])[] = [];
  for (const [state, { steps, lines }] of Object.entries(STATES)) {
    await perform(page, ...steps);
    const shown = expect.poll(() => screenOf(page));
    if (pictures === undefined) await shown.toEqual(lines);
    else await shown.toContain(lines.at(-1));
    unused.push(await page.evaluate<readonly string[]>(UNUSED_RULES));
    for (const [index, size] of inCi ? SIZES.entries() : []) {
      const [scheme, width] = size.split("-");
      await page.emulateMedia({ colorScheme: scheme === "dark" ? scheme : "light" });
      await page.setViewportSize({ width: Number(width), height: width === "375" ? 812 : 800 });
      const name = `${state}-${size}`;
      const rules = index === 0 ? [] : ["color-contrast"];
      expect([name, await violationsOn(page, ...rules)]).toEqual([name, []]);
      expect([name, await page.evaluate(IS_WIDE)]).toEqual([name, false]);
      if (pictures === undefined || !/^(keys|secret|key|revoke|pets)-\w+-(1280|375)$/.test(name))
        continue;
      const path = join(root, pictures, `${name}.png`);
      await page.screenshot({ path, animations: "disabled", caret: "hide" });
    }
  }
  const never = unused.reduce((all, each) => all.filter((rule) => each.includes(rule)));
  expect(never, "rules of no state but a failure").toEqual([".stale"]);
  expect(offences).toEqual([]);
});

const UNUSED_RULES = `[...document.styleSheets[0].cssRules].flatMap((rule) => [rule, ...(rule.cssRules ?? [])])
  .map(({ selectorText = "*" }) => selectorText.replace(/::.*|:(focus-visible|disabled)/, "") || "*")
  .filter((selector) => !document.querySelector(selector))`;

/** The last one is a zoom of 200 %. */
const SIZES = ["light-1280", "dark-375", "dark-1280", "light-375", "light-640"];
