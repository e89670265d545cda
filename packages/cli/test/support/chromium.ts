import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

const executablePath = "/usr/bin/chromium";

/** Without a browser, its tests are skipped; in CI they fail. */
const isSkipped = !existsSync(executablePath) && process.env["CI"] === undefined;

const HOW_TO_INSTALL =
  "Chromium is not installed at /usr/bin/chromium: run `apt-get update && apt-get install -y chromium`.";

/** A page, and the errors that it reported. */
export interface Watched {
  readonly page: Page;
  /** Requests to other hosts, errors of scripts, and errors and warnings of the browser. */
  readonly offences: readonly string[];
}

/** Opens a page, which may send requests to its origin and to these, and watches it. */
type OpenPage = (
  url: string,
  options?: BrowserContextOptions,
  others?: readonly string[],
) => Promise<Watched>;

/** Describes tests with a browser, in whose pages timers run this many times faster. */
export function describeInChromium(
  name: string,
  tests: (openPage: OpenPage) => void,
  pace = 1,
): void {
  describe.skipIf(isSkipped)(isSkipped ? `${name} (SKIPPED: ${HOW_TO_INSTALL})` : name, () => {
    let browser: Browser | undefined;
    let shared: Page | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath,
        args: [
          ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
          ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
        ],
      });
    });
    afterAll(() => browser?.close());
    tests(async (url, options, others = []) => {
      if (browser === undefined) throw new Error("The browser is started by beforeAll.");
      if (options !== undefined) {
        const page = await newPage(browser, options, pace);
        onTestFinished(() => page.context().close());
        return visit(page, url, others);
      }
      // A new page takes half a second of the processor: tests share it.
      const page = (shared ??= await newPage(browser, DESKTOP, pace));
      onTestFinished(async () => {
        for (const tab of page.context().pages()) if (tab !== page) await tab.close();
        await page.goto("about:blank");
        page.removeAllListeners();
      });
      return visit(page, url, others);
    });
  });
}

const DESKTOP = { viewport: { width: 1200, height: 900 } };

/** Serves this HTML on an origin of its own for the length of a test. Resolves to the origin. */
export async function servePage(html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await portOf(server)}`;
}

async function newPage(
  browser: Browser,
  options: BrowserContextOptions,
  pace: number,
): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addInitScript(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, after, ...args) => setTimeout(run, after / ${pace}, ...args);
  }`);
  const page = await context.newPage();
  // For busy machines, as the timeout of a test.
  page.setDefaultTimeout(100_000);
  return page;
}

async function visit(page: Page, url: string, others: readonly string[]): Promise<Watched> {
  const origins = [new URL(url).origin, ...others];
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
  await page.goto(url);
  return { page, offences };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Where a page breaks the rules of WCAG that axe checks, or some of them: each rule with the elements. */
export async function violationsOn(page: Page, ...rules: readonly string[]): Promise<unknown> {
  const options = { resultTypes: ["violations"], ...(rules.length > 0 ? { runOnly: rules } : {}) };
  const isThere = await page.evaluate<boolean>("'axe' in window");
  if (!isThere) await page.evaluate(axe);
  return page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join()))`,
  );
}
