import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

const executablePath = "/usr/bin/chromium";

/** Whether there is a browser to test with. */
export const hasChromium = existsSync(executablePath);

/** How to install it. */
export const HOW_TO_INSTALL =
  "Chromium is not installed at /usr/bin/chromium: run `apt-get update && apt-get install -y chromium`.";

/** A page, and the errors that it reported. */
export interface Watched {
  readonly page: Page;
  /** Requests to other hosts, errors of scripts, and errors and warnings of the browser. */
  readonly offences: readonly string[];
}

/**
 * Starts a browser for the tests of a file, if there is one. Returns a function that opens pages in it, whose timers
 * run this many times faster.
 */
export function useChromium(pace = 1): OpenPage {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (!hasChromium) return;
    browser = await chromium.launch({
      executablePath,
      args: [
        ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
        ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ],
    });
  });
  afterAll(() => browser?.close());
  return (...args) => {
    if (browser === undefined) throw new Error("The browser is started by beforeAll.");
    return openPage(browser, pace, ...args);
  };
}

/** Serves this HTML on an origin of its own for the length of a test. Resolves to the origin. */
export async function servePage(html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await portOf(server)}`;
}

/** Opens a page, which may send requests to its origin and to these, and watches it. */
type OpenPage = (
  url: string,
  options?: BrowserContextOptions,
  others?: readonly string[],
) => Promise<Watched>;

async function openPage(
  browser: Browser,
  pace: number,
  url: string,
  options: BrowserContextOptions = { viewport: { width: 1200, height: 900 } },
  others: readonly string[] = [],
): Promise<Watched> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  await context.addInitScript(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, after, ...args) => setTimeout(run, after / ${pace}, ...args);
  }`);
  const page = await context.newPage();
  // For busy machines, as the timeout of a test.
  page.setDefaultTimeout(100_000);
  const origins = [new URL(url).origin, ...others];
  const offences: string[] = [];
  await page.route("**", async (route) => {
    const wanted = route.request().url();
    if (origins.includes(new URL(wanted).origin)) return route.continue();
    offences.push(`request to ${wanted}`);
    return route.abort();
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
