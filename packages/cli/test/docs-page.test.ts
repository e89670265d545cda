import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { hasChromium, HOW_TO_INSTALL, openPage } from "./support/chromium.js";
import { newDatabase, petstore } from "./support/command.js";
import { startServer, useBuiltPetstore } from "./support/built-petstore.js";

useBuiltPetstore();

const isCi = process.env["CI"] !== undefined;

test.runIf(isCi)("there is a Chromium to test the docs page with", () => {
  expect(hasChromium, HOW_TO_INSTALL).toBe(true);
});

test("a person opens /docs, is refused without a key, authorises, adds a pet and lists it", async ({
  skip,
}) => {
  skip(!hasChromium, HOW_TO_INSTALL);
  const database = newDatabase();
  const { url } = await startServer("--database", database);
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

  await authorise(page, await issueKey(database));
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

  await page.screenshot({ path: join(tmpdir(), "petstore-docs.png"), fullPage: true });
  expect(offences).toEqual([]);
}, 60_000);

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

async function issueKey(database: string): Promise<string> {
  const args = ["keys", "issue", "--plan", "free", "--database", database, "--json"];
  return (JSON.parse((await petstore(...args)).out) as { secret: string }).secret;
}
