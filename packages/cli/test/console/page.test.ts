import { createPetStore } from "@petstore/core";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { startConsole, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { describeInChromium } from "../support/chromium.js";
import { issueKey, newDatabase, petstore } from "../support/command.js";
import { openBeside } from "../support/open-beside.js";
import { button, dialog, IS_WIDE, serveConsole } from "./serve-console.js";

useBuiltPetstore();

const rowOf = (page: Page, label: string) => page.getByRole("row").filter({ hasText: label });

/** A store in memory with one key, called acme. */
async function storeWithKey() {
  const store = createPetStore();
  const { key, secret } = (await store.keys.issue({ plan: "free", label: "acme" }))._unsafeUnwrap();
  const show = async () => (await store.keys.find(key.id))._unsafeUnwrap();
  return { store, secret, show };
}

// The page asks for changes every two seconds.
describeInChromium(
  "the console",
  (openPage) => {
    it("issues a key; a person runs into its limit, is found by the secret, and is let back in, until another console takes the port", async () => {
      const database = newDatabase();
      const { url } = await startServer("--database", database);
      const console = await startConsole(database, "--url", url);
      const { page, offences } = await openPage(console.url);
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByText("There is no key yet.").waitFor();

      await button(page, "Issue a key").click();
      await dialog(page).getByLabel("Label").fill("Happy Paws");
      await dialog(page).getByLabel("Plan").selectOption("enterprise");
      await dialog(page).getByLabel("Requests per minute").fill("3");
      await dialog(page).getByLabel("Requests per day").fill("50");
      await button(page, "Issue").click();
      await dialog(page).getByRole("button", { name: "Copy", exact: true }).first().click();
      await page.getByText("Copied.").waitFor();
      const secret = await page.evaluate<string>("navigator.clipboard.readText()");
      expect(secret).toMatch(/^pet_live_\w{36}$/);
      // Escape does not close what is shown only once.
      await page.keyboard.press("Escape");
      expect(await dialog(page).innerText()).toContain(`Bearer ${secret}`);
      await button(page, "I have stored it").click();
      await rowOf(page, "Happy Paws").getByText("unused").first().waitFor();
      expect(await page.content()).not.toContain(secret);

      const headers = { Authorization: `Bearer ${secret}` };
      const get = async () => (await fetch(`${url}/pets`, { headers })).status;
      for (let count = 0; count < 4; count += 1) await get();
      await rowOf(page, "Happy Paws").getByText("3 of 3").waitFor();
      const store = await openBeside(database);
      const banned = () => get().then(() => store.keys.list({ banned: true }));
      await expect.poll(async () => (await banned())._unsafeUnwrap().keys.length).toBe(1);
      await rowOf(page, "Happy Paws").getByText("banned until").waitFor();

      await page.getByRole("searchbox").fill(secret);
      await page.getByRole("heading", { name: "Happy Paws" }).waitFor();
      const id = new URL(page.url()).hash.slice("#keys/".length);
      await button(page, "Lift the ban").click();
      await page.getByText("active", { exact: true }).waitFor();
      expect((await store.keys.find(id))._unsafeUnwrap().bannedUntil).toBeUndefined();
      await expect.poll(console.output).toContain(`ban_lifted ${id}`);

      // The secret is nowhere but in the hands of who copied it.
      const places = `JSON.stringify([location.href, document.title, history.state, document.cookie,
        localStorage, sessionStorage, performance.getEntries().map(({ name }) => name), document.body.innerHTML])`;
      expect(await page.evaluate(places)).not.toContain(secret.slice(0, 20));
      expect(page.url()).not.toContain("token");
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

    it("rotates, changes the plan and revokes, and asks before what cannot be undone", async () => {
      const { store, secret, show } = await storeWithKey();
      const isAccepted = async (each: string) => (await store.as(each).listPets()).isOk();
      const { page, offences } = await openPage((await serveConsole(store)).url);
      await page.getByRole("link", { name: "acme" }).click();

      await button(page, "Rotate…").click();
      await button(page, "Rotate").click();
      const rotated = await dialog(page).locator("code").first().innerText();
      expect([await isAccepted(secret), await isAccepted(rotated)]).toEqual([true, true]);
      await button(page, "I have stored it").click();
      await page.getByText("old secret until").waitFor();

      await button(page, "Rotate…").click();
      await dialog(page).getByRole("combobox").selectOption("0");
      await button(page, "Rotate").click();
      expect(await isAccepted(rotated)).toBe(true);
      await button(page, "Press again: the old secret ends now").click();
      await button(page, "I have stored it").waitFor();
      expect([await isAccepted(secret), await isAccepted(rotated)]).toEqual([false, false]);
      await button(page, "I have stored it").click();

      await button(page, "Change plan…").click();
      await dialog(page).getByLabel("Plan").selectOption("enterprise");
      await button(page, "Change").click();
      // Without limits, the form is not sent.
      expect((await show()).plan).toBe("free");
      await dialog(page).getByLabel("Requests per minute").fill("5000");
      await dialog(page).getByLabel("Requests per day").fill("9007199254740991");
      await button(page, "Change").click();
      await page.getByText("5,000 a minute, 9,007,199,254,740,991 a day").waitFor();
      expect(await dialog(page).count()).toBe(0);

      await button(page, "Revoke…").click();
      expect(await button(page, "Revoke").isDisabled()).toBe(true);
      await dialog(page).getByRole("textbox").fill("acm");
      expect(await button(page, "Revoke").isDisabled()).toBe(true);
      await page.keyboard.press("Escape");
      expect((await show()).revokedAt).toBeUndefined();
      await button(page, "Revoke…").click();
      await dialog(page).getByRole("textbox").fill("acme");
      await page.keyboard.press("Enter");
      await page.getByText(/^revoked/).waitFor();
      expect((await show()).revokedAt).toBeDefined();
      expect(await button(page, "Rotate…").isDisabled()).toBe(true);
      expect(offences).toEqual([]);
    });

    it("lists pets by status with exact ids, and adds one", async () => {
      const store = createPetStore();
      for (let count = 1; count <= 60; count += 1) {
        const status = count % 2 === 0 ? "sold" : "pending";
        await store.trusted.createPet({ name: `Pet ${count}`, categoryId: 2n ** 63n - 1n, status });
      }
      const { page, offences } = await openPage((await serveConsole(store)).url);
      await page.getByRole("link", { name: "Pets" }).click();
      await page.getByText("Ids 1 to 50").waitFor();
      expect(await rowOf(page, "Pet 7").first().innerText()).toContain("9223372036854775807");
      await button(page, "Next").click();
      await page.getByText("Ids 51 to 60").waitFor();
      await page.getByLabel("Status").selectOption("sold");
      await page.getByText("Ids 2 to 60").waitFor();
      await page.getByLabel("From id").fill("58");
      await page.getByText("Ids 58 to 60").waitFor();

      await button(page, "Add a pet").click();
      await dialog(page).getByLabel("Name").fill("Rex");
      await dialog(page).getByLabel("Category").fill("1.5");
      await dialog(page).getByLabel("Status").selectOption("sold");
      await button(page, "Add").click();
      await page.getByText("categoryId must be an int64 integer").waitFor();
      await dialog(page).getByLabel("Category").fill("-9223372036854775808");
      await button(page, "Add").click();
      await page.getByText("was added with the id 61").waitFor();
      await button(page, "Close").click();
      await rowOf(page, "Rex").getByText("-9223372036854775808").waitFor();
      expect(offences).toEqual([]);
    });

    it("shows in each tab what another tab and the command line change", async () => {
      const database = newDatabase();
      const acme = await issueKey(database, "--label", "acme");
      const { url } = await serveConsole(await openBeside(database));
      const { page, offences } = await openPage(url);
      await page.getByRole("link", { name: "acme" }).waitFor();
      const other = await page.context().newPage();
      await other.goto(page.url());
      await other.getByRole("link", { name: "acme" }).click();
      await petstore("keys", "plan", acme.id, "business", "--database", database);
      await other.getByText("1,000 a minute, 100,000 a day").waitFor();
      await page.bringToFront();
      await rowOf(page, "acme").getByText("business").waitFor();
      await issueKey(database, "--label", "second");
      await page.getByRole("link", { name: "second" }).waitFor();

      // The command revokes it while a tab asks how to rotate it.
      await other.bringToFront();
      await button(other, "Rotate…").click();
      await petstore("keys", "revoke", acme.id, "--database", database);
      await button(other, "Rotate").click();
      await dialog(other).getByText("The API key is revoked or expired.").waitFor();
      await button(other, "Cancel").click();
      await other.getByText(/^revoked/).waitFor();
      await page.bringToFront();
      const revoked = rowOf(page, "acme").getByText(/^revoked/);
      await revoked.waitFor();
      expect(offences).toEqual([]);
    });

    it("says that the server is gone, and goes on when it is back", async () => {
      const { store } = await storeWithKey();
      const { url, close } = await serveConsole(store);
      const { page } = await openPage(url);
      await page.getByRole("link", { name: "acme" }).waitFor();
      close();
      await page.getByText("The console does not respond.").waitFor();
      // What was read stays on the screen.
      expect(await page.getByRole("link", { name: "acme" }).count()).toBe(1);
      await button(page, "Issue a key").click();
      await button(page, "Issue").click();
      await dialog(page).getByText("The console does not respond.").waitFor();
      await button(page, "Cancel").click();
      await store.keys.issue({ plan: "free", label: "after" });
      await serveConsole(store, {}, Number(new URL(url).port));
      await page.getByRole("link", { name: "after" }).waitFor();
      expect(await page.getByRole("alert").filter({ hasText: "respond" }).count()).toBe(0);
    });

    it("shows hostile labels as text, on a phone too", async () => {
      const store = createPetStore();
      const labels = [
        `<img src="https://evil.example/x" onerror="alert(1)"><script>alert(2)</script>`,
        `javascript:alert(3)//"'><svg onload=alert(4)>${"W".repeat(150)}`,
        "‮txt.exe‬ ⁦isolated \u0007\u001B[31mred\nsecond line",
        "   ",
        "🐈‍⬛".repeat(20) + "𒐫".repeat(40),
      ];
      for (const label of labels) {
        (await store.keys.issue({ plan: "free", label }))._unsafeUnwrap();
        await store.trusted.createPet({ name: label, categoryId: 1n });
      }
      const viewport = { width: 375, height: 700 };
      const { page, offences } = await openPage((await serveConsole(store)).url, { viewport });
      await page.getByText("<script>alert(2)</script>").waitFor();
      expect(await page.evaluate(IS_WIDE)).toBe(false);
      const text = await page.locator("tbody").innerText();
      expect(text).toContain("�txt.exe� �isolated");
      expect(text).toContain("no label");
      for (let index = 0; index < labels.length; index += 1) {
        await page.locator("tbody a").nth(index).click();
        await button(page, "Revoke…").click();
        await dialog(page).waitFor();
        expect(await page.evaluate(IS_WIDE)).toBe(false);
        const asked = await dialog(page).locator("label").innerText();
        await dialog(page)
          .getByRole("textbox")
          .fill(/type (.*)/.exec(asked)?.[1] ?? "");
        await button(page, "Revoke").click();
        await page.getByText(/^revoked/).waitFor();
        await page.getByRole("link", { name: "All keys" }).click();
      }
      await page.getByRole("link", { name: "Pets" }).click();
      await page.getByText("<script>alert(2)</script>").waitFor();
      expect(await page.evaluate(IS_WIDE)).toBe(false);
      expect(offences).toEqual([]);
    });

    it("can be used with the keyboard alone", async () => {
      const { store } = await storeWithKey();
      const { page } = await openPage((await serveConsole(store)).url);
      await page.getByRole("link", { name: "acme" }).waitFor();
      const focused = () =>
        page.evaluate<string>(
          "document.activeElement.textContent || document.activeElement.tagName",
        );
      const tabTo = async (text: string) => {
        for (let count = 0; count < 40; count += 1) {
          await page.keyboard.press("Tab");
          if ((await focused()).startsWith(text)) return;
        }
        throw new Error(`${text} is not reached with Tab.`);
      };
      await tabTo("acme");
      await page.keyboard.press("Enter");
      await button(page, "Revoke…").waitFor();
      await tabTo("Revoke…");
      await page.keyboard.press("Enter");
      await page.keyboard.type("acme");
      await page.keyboard.press("Escape");
      expect(await focused()).toBe("Revoke…");
      await page.keyboard.press("Enter");
      await page.keyboard.type("acme");
      await page.keyboard.press("Enter");
      await page.getByText(/^revoked/).waitFor();
    });

    const many = sized(2_000, 100_000, 100_000);
    it(`finds one of ${many.toLocaleString("en")} keys`, async () => {
      const store = createPetStore();
      for (let count = 0; count < many; count += 1) {
        await store.keys.issue({ plan: "free", label: `customer ${count}` });
      }
      const { page, offences } = await openPage((await serveConsole(store)).url);
      await page.getByText(`1 to 50 of ${many.toLocaleString("en-US")}`).waitFor();
      await page.getByRole("searchbox").fill(`customer ${many - 777}`);
      await page.getByText("1 to 1 of 1 (of").waitFor();
      await page.getByRole("link", { name: `customer ${many - 777}` }).click();
      await button(page, "Revoke…").waitFor();
      await page.goBack();
      // The search is still there.
      await page.getByText("1 to 1 of 1 (of").waitFor();
      await page.getByRole("searchbox").fill("");
      await page.getByLabel("Order").selectOption("use");
      const busy = (await store.keys.issue({ plan: "free", label: "busy" }))._unsafeUnwrap();
      await store.as(busy.secret).listPets();
      await rowOf(page, "busy").getByText("1 of 60").waitFor();
      expect(offences).toEqual([]);
    });
  },
  5,
);
