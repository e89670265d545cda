import type { PetStore } from "@petstore/core";
import { parseIdempotencyKey } from "@petstore/core/internal";
import { ok } from "neverthrow";
import { createConsoleCalls } from "./calls.js";
import { isCallName } from "./inputs.js";
import { pageFiles, type PageFile } from "../page-files.js";
import type { ErrorBody } from "./protocol.js";
import { parseSettings, type ConsoleOptions } from "./settings.js";

export type ConsoleHandler = (request: Request) => Promise<Response>;

/** The longest body of a call, in bytes. A label has at most 200 characters; the name of a pet may be long. */
const LONGEST_BODY = 65_536;

/** The page loads only its own files, and scripts and styles stand in files of their own; no page can frame it. */
const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

/**
 * Creates the operator's console of a store, as a WHATWG handler:
 * `app.all("/console/*", ({ req }) => handle(req.raw))`.
 *
 * The handler knows no users: anyone who can reach it can manage all keys, so put it behind your login. It refuses
 * requests that change something from pages of other origins.
 * @throws TypeError that names the option, if one is wrong.
 */
export function createConsole(store: PetStore, options: ConsoleOptions = {}): ConsoleHandler {
  const settings = parseSettings(options);
  const { basePath, actor, onError } = settings;
  const run = createConsoleCalls(store, settings);

  const respond = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === basePath) {
      // The page's links are relative, so it needs the slash.
      const location = `${basePath.slice(basePath.lastIndexOf("/") + 1)}/`;
      return toResponse(308, null, { Location: location });
    }
    if (!pathname.startsWith(`${basePath}/`)) return notFound();
    const name = pathname.slice(basePath.length + 1);
    const file = pageFiles.get(name === "" ? "index.html" : name);
    if (file !== undefined) return respondWithFile(request, file);
    const [, call = ""] = /^api\/(.*)$/.exec(name) ?? [];
    if (!isCallName(call)) return notFound();
    if (request.method !== "POST") return notAllowed("POST");
    if (!isSameOrigin(request))
      return failed(403, "forbidden", "This request comes from a page of another origin.");
    if (!isJson(request))
      return failed(415, "unsupported_media_type", "The Content-Type must be application/json.");
    const body = await readJson(request);
    if (body === undefined) return failed(400, "bad_request", "The body is not JSON, or too long.");
    const header = request.headers.get("Idempotency-Key");
    const key = header === null ? ok(undefined) : parseIdempotencyKey(header);
    if (key.isErr()) return failed(400, key.error.code, key.error.message);
    // The host's function may throw: nothing is done then.
    const sender = { actor: actor(request), idempotencyKey: key.value };
    const result = await run(call, body, sender);
    if (result.isOk()) return json(200, result.value);
    const { code, message, status, cause } = result.error;
    if (status >= 500) onError(cause ?? message);
    return failed(status, code, message);
  };
  return async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      onError(error);
      return failed(500, "internal_error", "Something went wrong.");
    }
  };
}

/** Browsers say where a request comes from; other clients have no cookies that a page could use. */
function isSameOrigin({ headers, url }: Request): boolean {
  const site = headers.get("Sec-Fetch-Site");
  const origin = headers.get("Origin") ?? "";
  if (!URL.canParse(origin)) return false;
  // A proxy may speak TLS for the host.
  return site === null ? new URL(origin).host === new URL(url).host : site === "same-origin";
}

/** A page of another origin cannot send this type unless it is allowed to (WHATWG Fetch, CORS-safelisted request headers). */
function isJson({ headers }: Request): boolean {
  return /^application\/json(?:$|[\s;])/i.test(String(headers.get("Content-Type")));
}

/** Returns `undefined` if the body is not JSON, or too long. */
async function readJson({ body }: Request): Promise<unknown> {
  const chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = body ?? [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.byteLength;
      if (length > LONGEST_BODY) return undefined;
      text += decoder.decode(chunk, { stream: true });
    }
    return JSON.parse(text + decoder.decode());
  } catch {
    return undefined;
  }
}

function respondWithFile({ method }: Request, { type, text }: PageFile): Response {
  if (method !== "GET" && method !== "HEAD") return notAllowed("GET, HEAD");
  return toResponse(200, method === "HEAD" ? null : text, { "Content-Type": type });
}

const notFound = (): Response => failed(404, "not_found", "There is nothing at this path.");

function notAllowed(allow: string): Response {
  return failed(405, "method_not_allowed", `This path supports only ${allow}.`, { Allow: allow });
}

function failed(status: number, code: string, message: string, headers = {}): Response {
  return json(status, { code, message, status } satisfies ErrorBody, headers);
}

function json(status: number, value: object, headers = {}): Response {
  const type = { "Content-Type": "application/json" };
  return toResponse(status, JSON.stringify(value), { ...type, ...headers });
}

function toResponse(status: number, body: string | null, headers: object): Response {
  return new Response(body, { status, headers: { ...HEADERS, ...headers } });
}
