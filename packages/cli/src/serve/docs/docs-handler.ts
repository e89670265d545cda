import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { openApiDocument, statusOf, type NodeHandler } from "@petstore/http-adapter";
import { methodNotAllowed } from "@petstore/http-adapter/internal";

/** Relative, so that they work behind any proxy. */
const REDIRECTS: ReadonlyMap<string, string> = new Map([
  ["/", "docs"],
  ["/docs/", "../docs"],
  // Some browsers look for it here, whatever the page says.
  ["/favicon.ico", "docs/favicon.svg"],
]);

const HEADERS = {
  // The page loads only files of this server. Swagger UI's icons are `data:` images.
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

/** Responds to `/openapi.json`, `/docs` and its files, and to what is redirected to them; calls `next` for the rest. */
export function createDocsHandler(): NodeHandler {
  const files = readDocsFiles();
  return (request, response, next) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const file = files.get(path);
    const redirect = REDIRECTS.get(path);
    if (file === undefined && redirect === undefined) next?.();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (file !== undefined) respondWithFile(request, response, file);
    else response.writeHead(302, { Location: redirect, "Content-Length": 0 }).end();
  };
}

function refuseMethod(response: ServerResponse): void {
  const { code, message, headers } = methodNotAllowed("GET, HEAD");
  const status = statusOf(code);
  const body = JSON.stringify({ code, message, status });
  const about = { "Content-Type": "application/json", "Content-Length": body.length };
  response.writeHead(status, { ...HEADERS, ...headers, Connection: "close", ...about });
  response.end(body);
}

/** `no-cache` makes browsers revalidate their copy, so that they show a new version at once. */
function respondWithFile(
  request: IncomingMessage,
  response: ServerResponse,
  { type, bytes, headers }: DocsFile,
): void {
  // RFC 9110, section 13.1.2.
  const tags = (request.headers["if-none-match"] ?? "").split(",");
  const known = tags.map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes("*") || known.includes(headers.ETag)) {
    // Without a Content-Type (RFC 9110, section 15.4.5).
    response.writeHead(304, { ...HEADERS, ...headers }).end();
    return;
  }
  const body = { "Content-Type": type, "Content-Length": bytes.length };
  response.writeHead(200, { ...HEADERS, ...headers, ...body }).end(bytes);
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const PAGE_FILES = ["favicon.svg", "page.css", "page.js", "plugins.js"];
const SWAGGER_UI_FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];

/** By path. Throws if one cannot be read: the installation is broken. */
function readDocsFiles(): ReadonlyMap<string, DocsFile> {
  const read = (name: string): DocsFile => toDocsFile(name, readFileSync(locate(name)));
  const document = Buffer.from(JSON.stringify(openApiDocument));
  // Tools on pages of other origins read it. It holds no secret.
  const open = { "Access-Control-Allow-Origin": "*" };
  return new Map<string, DocsFile>([
    ["/openapi.json", toDocsFile("openapi.json", document, open)],
    ["/docs", read("index.html")],
    ...[...PAGE_FILES, ...SWAGGER_UI_FILES].map((name) => [`/docs/${name}`, read(name)] as const),
  ]);
}

type DocsFile = ReturnType<typeof toDocsFile>;

function toDocsFile(name: string, bytes: Uint8Array, more: object = {}) {
  const digest = createHash("sha256").update(bytes).digest("base64url");
  const type = TYPES[extname(name)] ?? "application/octet-stream";
  // The ETag changes with the content (RFC 9110, section 8.8.3).
  const headers = { "Cache-Control": "no-cache", ETag: `"${digest}"`, ...more };
  return { type, bytes, headers };
}

/** The build has all files in one directory. In the source tree they are in two places. */
function locate(name: string): URL | string {
  const built = new URL(`docs/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  return SWAGGER_UI_FILES.includes(name)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    : new URL(`page/${name}`, import.meta.url);
}
