import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeHandler } from "@petstore/http-adapter";
import { findDocsFiles, type DocsFile } from "./docs-files.js";

/** Relative, so that they work behind any proxy. */
const REDIRECTS: ReadonlyMap<string, string> = new Map([
  ["/", "docs"],
  ["/docs/", "../docs"],
]);

/**
 * The page loads only files from this server: nothing from other hosts, no inline scripts, no frames.
 * Swagger UI's icons are `data:` images.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

const METHOD_NOT_ALLOWED = JSON.stringify({
  code: "method_not_allowed",
  message: "This path supports only GET and HEAD.",
  status: 405,
});

/**
 * Creates the handler of the docs page: it responds to `/openapi.json`, `/docs` and its files, redirects
 * `/` to `/docs`, and calls `next` for everything else.
 */
export function createDocsHandler(): NodeHandler {
  const files = findDocsFiles();
  return (request, response, next) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const file = files.get(path);
    const redirect = REDIRECTS.get(path);
    if (file === undefined && redirect === undefined) next?.();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (file !== undefined) respondWithFile(request, response, file());
    else response.writeHead(302, { ...HEADERS, Location: redirect, "Content-Length": 0 }).end();
  };
}

function refuseMethod(response: ServerResponse): void {
  response
    .writeHead(405, {
      ...HEADERS,
      Allow: "GET, HEAD",
      Connection: "close",
      "Content-Type": "application/json",
      "Content-Length": METHOD_NOT_ALLOWED.length,
    })
    .end(METHOD_NOT_ALLOWED);
}

/** `no-cache` makes browsers revalidate their copy, so that they show a new version at once. */
function respondWithFile(
  request: IncomingMessage,
  response: ServerResponse,
  { type, bytes, etag }: DocsFile,
): void {
  const headers = { ...HEADERS, "Cache-Control": "no-cache", ETag: etag };
  if (knows(request.headers["if-none-match"], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, "Content-Type": type, "Content-Length": bytes.length });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

/** RFC 9110, section 13.1.2. */
function knows(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etag);
}
