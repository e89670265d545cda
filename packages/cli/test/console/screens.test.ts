import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { describeInChromium, violationsOn } from "../support/chromium.js";
import { createDemoStore } from "./demo-store.js";
import { button, dialog, IS_WIDE, serveConsole } from "./serve-console.js";

/** Where the pictures of the documents are, if they are to be made anew: `npm run screenshots`. */
const pictures = process.env["PETSTORE_SCREENSHOTS"];

const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** The main states, each reached from the one before. */
const STATES: readonly (readonly [name: string, go: (page: Page) => Promise<void>])[] = [
  ["keys", (page) => page.getByRole("link", { name: "Mobile app" }).waitFor()],
  [
    "issue",
    async (page) => {
      await button(page, "Issue a key").click();
      await dialog(page).getByLabel("Label").fill("Rescue North");
      await dialog(page).getByLabel("Plan").selectOption("enterprise");
    },
  ],
  [
    "secret",
    async (page) => {
      await dialog(page).getByLabel("Plan").selectOption("pro");
      await button(page, "Issue").click();
      await page.getByText("The secret is shown only now.").waitFor();
    },
  ],
  [
    "banned",
    async (page) => {
      await button(page, "I have stored it").click();
      await button(page, "banned 1").click();
      await page.getByText("1 to 1 of 1 (of").waitFor();
    },
  ],
  [
    "key",
    async (page) => {
      await page.getByRole("link", { name: "Price scraper" }).click();
      await button(page, "Lift the ban").waitFor();
    },
  ],
  [
    "revoke",
    async (page) => {
      await button(page, "Revoke…").click();
      await dialog(page).getByRole("textbox").fill("Price scr");
    },
  ],
  [
    "rotate",
    async (page) => {
      await button(page, "Cancel").click();
      await button(page, "Rotate…").click();
      await dialog(page).getByRole("combobox").selectOption("0");
      await button(page, "Rotate").click();
    },
  ],
  [
    "pets",
    async (page) => {
      await button(page, "Cancel").click();
      await page.getByRole("link", { name: "Pets" }).click();
      await page.getByText("Hedwig").waitFor();
    },
  ],
  [
    "refused",
    async (page) => {
      await button(page, "Add a pet").click();
      await dialog(page).getByLabel("Name").fill("Rex");
      await dialog(page).getByLabel("Category").fill("1.5");
      await button(page, "Add").click();
      await page.getByText("categoryId must be an int64 integer").waitFor();
    },
  ],
];

/** The states of which the documents have pictures. */
const PICTURED: ReadonlySet<string> = new Set(["keys", "secret", "key", "revoke", "pets"]);

const SCREENS = [
  ["light", 1280],
  ["dark", 375],
  ["dark", 1280],
  ["light", 375],
  // A zoom of 200 %.
  ["light", 640],
] as const;

// The page asks for changes every two seconds.
describeInChromium(
  "the states of the console",
  (openPage) => {
    it("a screen reader finds everything, and nothing is cut off, on wide screens and phones, light and dark", async () => {
      const screens = SCREENS.slice(0, pictures === undefined ? sized(2, 5, 5) : 4);
      const { url, close } = await serveConsole(await createDemoStore(), { actor: "anna" });
      const { page, offences } = await openPage(url, {
        ...{ timezoneId: "UTC", locale: "en-US", reducedMotion: "reduce" },
      });
      const check = async (state: string): Promise<void> => {
        for (const [index, [colorScheme, width]] of screens.entries()) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: width === 375 ? 812 : 800 });
          const name = `${state}-${colorScheme}-${width}`;
          // Of the rules, only this one depends on the screen.
          const rules = index === 0 ? [] : ["color-contrast"];
          expect([name, await violationsOn(page, ...rules)]).toEqual([name, []]);
          expect([name, await page.evaluate(IS_WIDE)]).toEqual([name, false]);
          if (pictures === undefined || !PICTURED.has(state)) continue;
          mkdirSync(join(root, pictures), { recursive: true });
          const path = join(root, pictures, `${name}.png`);
          await page.screenshot({ path, animations: "disabled", caret: "hide" });
        }
      };
      for (const [state, go] of STATES) {
        await go(page);
        await check(state);
      }
      expect(offences).toEqual([]);
      await button(page, "Cancel").click();
      close();
      await page.getByText("The console does not respond.").waitFor();
      await check("gone");
    });
  },
  5,
);
