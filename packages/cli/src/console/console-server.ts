import { hash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { ConsoleHandler } from "@petstore/console";
import type { RandomSource } from "@petstore/core/internal";
import { originForm } from "@petstore/http-adapter/internal";
import { err, ok } from "neverthrow";
import { DRAIN_SECONDS, limitConnections, listenOn } from "../serve/server.js";

const HOST = "127.0.0.1";
const PATH_BYTES = 16;
/** A browser uses six. */
const MOST_CONNECTIONS = 200;
/** How long a request may take to arrive, in milliseconds. */
const TIMEOUT = 10_000;

/**
 * Serves a console on this machine, under a random path. `newLink` returns a new link and ends earlier ones, but no
 * login. `close` finishes the running requests, for at most `DRAIN_SECONDS`, and closes the server.
 */
export async function serveConsole(
  create: (basePath: string) => ConsoleHandler,
  port: number,
  random: RandomSource,
) {
  const basePath = `/${Buffer.from(random(PATH_BYTES)).toString("base64url")}`;
  const timeouts = { headersTimeout: TIMEOUT, requestTimeout: TIMEOUT };
  const server = createServer({ ...timeouts, connectionsCheckingInterval: 1_000 });
  limitConnections(server, MOST_CONNECTIONS);
  const listening = await listenOn(server, HOST, port);
  if (listening.isErr()) return err(listening.error);
  const origin = listening.value;
  const { handle, newLink } = createLogin(create(basePath), origin, basePath, random);
  // eslint-disable-next-line no-restricted-syntax -- All other commands start without it.
  const { getRequestListener } = await import("@hono/node-server");
  const listener = getRequestListener(handle, { overrideGlobalObjects: false });
  const running = new Set<ServerResponse>();
  server.on("request", (request, response) => {
    running.add(response.once("close", () => running.delete(response)));
    request.url = originForm(request.url ?? "");
    void listener(request, response);
  });
  const close = async (): Promise<void> => {
    const closed = once(server.close(), "close");
    // A response may show a new secret, also if its request arrives while the server closes.
    const end = async (): Promise<void> => {
      for (const response of running) await once(response, "close");
    };
    await Promise.race([end(), setTimeout(DRAIN_SECONDS * 1_000, undefined, { ref: false })]);
    server.closeAllConnections();
    await closed;
  };
  return ok({ newLink, close });
}

const SECRET_BYTES = 32;
/** The longest body of a login, in bytes. */
const LONGEST_BODY = 200;

/**
 * Puts a console behind a login by a link, which works once. Everything but the login needs a cookie; without it, the
 * response is 401. No other origin is served, also if another name leads here. A cookie goes to all ports of a host, but
 * only to its path. The path is random, so another server of this machine does not get it.
 */
function createLogin(page: ConsoleHandler, origin: string, basePath: string, random: RandomSource) {
  const { host, port } = new URL(origin);
  const newSecret = (): string => Buffer.from(random(SECRET_BYTES)).toString("base64url");
  const session = `petstore-console-${port}=${newSecret()}`;
  let token: string | undefined;

  const isLoggedIn = ({ headers }: Request): boolean =>
    (headers.get("Cookie") ?? "").split(";").some((cookie) => isSame(cookie.trim(), session));

  const logIn = async (request: Request): Promise<Response> => {
    const length = Number(request.headers.get("Content-Length") ?? Infinity);
    const sent = length <= LONGEST_BODY ? await request.text() : "";
    if (token === undefined || !isSame(sent, token)) return refused();
    token = undefined;
    const cookie = `${session}; Path=${basePath}/; HttpOnly; SameSite=Strict`;
    return new Response(null, { status: 204, headers: { "Set-Cookie": cookie } });
  };

  return {
    newLink: (): string => {
      token = newSecret();
      return `${origin}${basePath}/#token=${token}`;
    },
    handle: async (request: Request): Promise<Response> => {
      if (request.headers.get("Host") !== host || isFromElsewhere(request, origin)) {
        return new Response(ELSEWHERE, { status: 403 });
      }
      if (isLoggedIn(request)) return page(request);
      const { pathname } = new URL(request.url);
      if (request.method === "POST" && pathname === `${basePath}/login`) return logIn(request);
      return pathname === `${basePath}/` ? loginPage() : refused();
    },
  };
}

/** Whether a page of another origin has sent a request. It may only lead here, by a link. */
function isFromElsewhere({ headers }: Request, origin: string): boolean {
  const site = headers.get("Sec-Fetch-Site") ?? "none";
  const isLink = headers.get("Sec-Fetch-Mode") === "navigate";
  if (site !== "none" && site !== "same-origin" && !isLink) return true;
  return (headers.get("Origin") ?? origin) !== origin;
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));
}

const ELSEWHERE = "This is the console of a pet store, under another address.\n";
const MESSAGE =
  "This console opens with the link that its terminal shows. A link works once: press Enter there for another one.";

function refused(): Response {
  const body = { code: "unauthorized", message: MESSAGE, status: 401 };
  return Response.json(body, { status: 401, headers: { "Cache-Control": "no-store" } });
}

/** Sends the token of the link, which stands in the fragment: no server log, referrer or history keeps it. */
const SCRIPT = `
const [, token] = /^#token=([\\w-]+)$/.exec(location.hash) ?? [];
history.replaceState(null, "", location.pathname);
if (token !== undefined) {
  const { ok } = await fetch("login", { method: "POST", body: token }).catch(() => ({ ok: false }));
  if (ok) location.reload();
}
document.querySelector("p").hidden = false;
`;

const STYLE =
  ":root { color-scheme: light dark } p { max-width: 32rem; margin: 4rem auto; font: 1rem/1.5 system-ui, sans-serif }";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pet store console</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<p hidden>${MESSAGE}</p>
<script type="module">${SCRIPT}</script>
</html>
`;

const POLICY =
  `default-src 'none'; script-src '${sourceOf(SCRIPT)}'; style-src '${sourceOf(STYLE)}'; img-src data:; ` +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

function loginPage(): Response {
  return new Response(PAGE, {
    status: 401,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "Cache-Control": "no-store",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** The source of a script or style within the page (Content Security Policy 3, section 2.3.1). */
function sourceOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}
