import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, onTestFinished } from "vitest";

const executablePath = "/usr/bin/chromium";

/** Why the tests of a browser are skipped, if they are. In CI, they fail without a browser. */
const reasonToSkip =
  existsSync(executablePath) || process.env["CI"] !== undefined
    ? undefined
    : `Chromium is not installed at ${executablePath}: run \`apt-get update && apt-get install -y chromium\`.`;

/** Starts a browser for a file or group of tests; its timers run this much faster. Returns what opens a URL on a page. */
export function useChromium(pace = 1, timezoneId = "UTC") {
  let opened: Page | undefined;
  beforeAll(async () => {
    if (reasonToSkip !== undefined) return;
    const { chromium } = await import("playwright-core");
    const args = [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ];
    const browser = await chromium.launch({ executablePath, args });
    const options = { timezoneId, locale: "en-US", reducedMotion: "reduce" } as const;
    const context = await browser.newContext(options);
    await context.addInitScript(`{
      const { setTimeout } = globalThis;
      globalThis.setTimeout = (run, after, ...args) => setTimeout(run, after / ${pace}, ...args);
    }`);
    context.setDefaultTimeout(100_000);
    opened = await context.newPage();
    return () => browser.close();
  });
  beforeEach(({ skip }) => skip(reasonToSkip !== undefined, reasonToSkip));
  return async (url: string, others: readonly string[] = []) => {
    if (opened === undefined) throw new Error("The page is opened by beforeAll.");
    const page = opened;
    onTestFinished(async () => {
      for (const tab of page.context().pages()) if (tab !== page) await tab.close();
      await page.goto("about:blank");
      page.removeAllListeners();
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1200, height: 900 });
    /** Requests to other hosts, errors of scripts, and errors and warnings of the browser. */
    const offences = watch(page, [new URL(url).origin, ...others]);
    await page.goto(url);
    return { page, offences };
  };
}

/** A script with which a page has no session storage, as where site data is blocked. */
export const BLOCK_SITE_DATA =
  "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } })";

function watch(page: Page, origins: readonly string[]): readonly string[] {
  const offences: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && !origins.includes(origin)) offences.push(`request to ${origin}`);
  });
  page.on("pageerror", (error) => offences.push(`thrown: ${error.message}`));
  page.on("console", (message) => {
    // The browser reports every 4xx as an error; these tests expect them.
    const isResponse = message.text().startsWith("Failed to load resource: the server responded");
    const isOffence = message.type() === "warning" || (message.type() === "error" && !isResponse);
    if (isOffence) offences.push(`console: ${message.text()}`);
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
