import type { Locator, Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { useServer } from "./support/built-petstore.js";
import { describeInChromium, violationsOn } from "./support/chromium.js";
import { issueKey } from "./support/command.js";

const server = useServer();

describeInChromium("the docs page", (openPage) => {
  it("is for a person who is refused without a key, authorises, adds a pet and lists it", async () => {
    const { url, database } = server();
    const { page, offences } = await openPage(`${new URL(url).origin}/`);
    const listPets = operation(page, "listPets");
    const createPet = operation(page, "createPet");
    expect(await page.title()).toContain("Pet Store");
    await page.getByText("petstore keys issue").waitFor();
    await page.getByRole("cell", { name: "10,000" }).waitFor();

    await listPets.open();
    const refused = await listPets.execute();
    expect(refused).toMatch(/^401\b/m);
    expect(refused).toContain('"missing_api_key"');
    expect(refused).toMatch(/www-authenticate: Bearer realm="petstore"/);

    await authorise(page, (await issueKey(database)).secret);
    await createPet.open();
    await createPet.write('{ "name": "Rex", "categoryId": 9223372036854775807, "status": "sold" }');
    const created = await createPet.execute();
    expect(created).toMatch(/^201\b/m);
    expect(created).toContain('"categoryId": 9223372036854775807');
    expect(created).toContain("location: /v1/pets/1");

    const listed = await listPets.execute();
    expect(listed).toMatch(/^200\b/m);
    expect(listed).toContain('[\n  {\n    "id": 1,\n    "name": "Rex",');
    expect(listed).toMatch(/x-ratelimit-limit: 60\b[^]*x-ratelimit-remaining: 58\b/);
    expect(listed).toMatch(/x-ratelimit-reset: \d{10}\b/);

    // Input that the form refuses is not sent: the page must not show the response of another request.
    const block = page.locator("#operations-pets-listPets");
    await block.getByPlaceholder("after").fill("x");
    await block.getByRole("button", { name: "Execute" }).click();
    await block.getByText("Value must be an integer").waitFor();
    expect(await block.locator(".live-responses-table").count()).toBe(0);

    expect(await page.locator("body").innerText()).toContain("This tab keeps your key");
    // A second pet is a new one: the form suggests no idempotency key.
    await createPet.write('{ "name": "Rex", "categoryId": 7 }');
    expect(await createPet.execute()).toContain("location: /v1/pets/2");
    // The tab keeps the key over a reload, until it is removed.
    await page.reload();
    await listPets.open();
    expect(await listPets.execute()).toMatch(/^200\b/m);
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.getByRole("button", { name: "Remove authorization" }).click();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("pet_live_");
    expect(offences).toEqual([]);
  });

  it.runIf(sized(0, 1, 1))(
    "does not scroll sideways on a phone, and every text can be read, light and dark",
    async () => {
      const viewport = { width: 375, height: 700 };
      const address = `${new URL(server().url).origin}/docs`;
      const { page, offences } = await openPage(address, { viewport });
      await page.locator(".opblock").first().waitFor();
      await page.evaluate(clickAll(".opblock-summary-control"));
      await operation(page, "listPets").execute();
      await page.evaluate(clickAll(".tablinks[data-name=model]"));
      await page.evaluate(clickAll(".auth-wrapper .authorize"));
      await page.locator(".modal-ux").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const color = "getComputedStyle(document.body).backgroundColor";
        // The colors change gradually.
        await vi.waitFor(async () => {
          expect(await page.evaluate(color)).toMatch(
            colorScheme === "light" ? /2\d\d\)$/ : /\b\d\d\)$/,
          );
          expect(await violationsOn(page, "color-contrast")).toEqual([]);
        }, 60_000);
      }
      expect(offences).toEqual([]);
    },
  );
});

function clickAll(selector: string): string {
  return `document.querySelectorAll("${selector}").forEach((element) => element.click())`;
}

/** An operation on the page. */
interface Shown {
  open(): Promise<void>;
  /** Writes the request's body. */
  write(body: string): Promise<void>;
  /** Presses the button. Resolves to the response that the page shows. */
  execute(): Promise<string>;
}

function operation(page: Page, id: string): Shown {
  const block: Locator = page.locator(`#operations-pets-${id}`);
  return {
    open: () => block.locator(".opblock-summary-control").click(),
    write: (body) => block.locator("textarea").fill(body),
    execute: async () => {
      const answered = page.waitForResponse(/\/v1\/pets/);
      await block.getByRole("button", { name: "Execute" }).click();
      const { "x-ratelimit-remaining": remaining = "" } = (await answered).headers();
      const response = block.locator(".live-responses-table").first();
      // The page has drawn this response, not the one before.
      await response.getByText(`x-ratelimit-remaining: ${remaining}`).waitFor();
      return response.innerText();
    },
  };
}

async function authorise(page: Page, secret: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize" }).first().click();
  const dialog = page.locator(".modal-ux");
  await dialog.getByRole("textbox").fill(secret);
  await dialog.getByRole("button", { name: "Apply credentials" }).click();
  await dialog.getByRole("button", { name: "Close" }).click();
}
