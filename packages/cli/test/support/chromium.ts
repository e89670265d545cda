import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

const executablePath = "/usr/bin/chromium";

/** Without a browser, its tests are skipped; in CI they fail. */
const isSkipped = !existsSync(executablePath) && process.env["CI"] === undefined;

const HOW_TO_INSTALL =
  "Chromium is not installed at /usr/bin/chromium: run `apt-get update && apt-get install -y chromium`.";

/** Opens a URL, on a page that may send requests to its origin and to these. */
type OpenPage = (
  url: string,
  others?: readonly string[],
) => Promise<{
  readonly page: Page;
  /** Requests to other hosts, errors of scripts, and errors and warnings of the browser. */
  readonly offences: readonly string[];
}>;

/** Describes tests with a browser, in whose pages timers run this many times faster. They share a page. */
export function describeInChromium(
  name: string,
  tests: (openPage: OpenPage) => void,
  pace = 1,
): void {
  describe.skipIf(isSkipped)(isSkipped ? `${name} (SKIPPED: ${HOW_TO_INSTALL})` : name, () => {
    let browser: Browser | undefined;
    let page: Page | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath,
        args: [
          ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
          ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
        ],
      });
      const context = await browser.newContext({
        ...{ timezoneId: "UTC", locale: "en-US", reducedMotion: "reduce" },
      });
      await context.addInitScript(`{
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (run, after, ...args) => setTimeout(run, after / ${pace}, ...args);
      }`);
      // For busy machines, as the timeout of a test.
      context.setDefaultTimeout(100_000);
      page = await context.newPage();
    });
    afterAll(() => browser?.close());
    tests(async (url, others = []) => {
      if (page === undefined) throw new Error("The page is opened by beforeAll.");
      const shared = page;
      onTestFinished(async () => {
        for (const tab of shared.context().pages()) if (tab !== shared) await tab.close();
        await shared.goto("about:blank");
        shared.removeAllListeners();
      });
      await shared.emulateMedia({ colorScheme: "light" });
      await shared.setViewportSize({ width: 1200, height: 900 });
      const offences = watch(shared, [new URL(url).origin, ...others]);
      await shared.goto(url);
      return { page: shared, offences };
    });
  });
}

function watch(page: Page, origins: readonly string[]): readonly string[] {
  const offences: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && !origins.includes(origin)) offences.push(`request to ${origin}`);
  });
  page.on("pageerror", (error) => offences.push(`thrown: ${error.message}`));
  page.on("console", (message) => {
    // The browser reports every 4xx as an error; these tests expect them.
    const isAnswer = message.text().startsWith("Failed to load resource: the server responded");
    if (message.type() === "error" && !isAnswer) offences.push(`console: ${message.text()}`);
    if (message.type() === "warning") offences.push(`console: ${message.text()}`);
  });
  return offences;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Where a page breaks the rules of WCAG that axe checks, or some of them: each rule with the elements. */
export async function violationsOn(page: Page, ...rules: readonly string[]): Promise<unknown> {
  const options = { resultTypes: ["violations"], ...(rules.length > 0 ? { runOnly: rules } : {}) };
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  return page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join()))`,
  );
}
