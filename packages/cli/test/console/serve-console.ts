import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createConsole, type ConsoleOptions } from "@petstore/console";
import type { PetStore } from "@petstore/core";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { portOf } from "../../../../scripts/ports.js";

/** Serves the console of a store in this process, on a free port or on this one, until it is closed or the test ends. */
export async function serveConsole(store: PetStore, options: ConsoleOptions = {}, port = 0) {
  const handle = createConsole(store, options);
  const listener = getRequestListener(handle, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${await portOf(server, port)}/console/`, close };
}

export const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });

export const dialog = (page: Page) => page.getByRole("dialog");

/** Whether a page scrolls sideways. */
export const IS_WIDE = "document.documentElement.scrollWidth > innerWidth";
