import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeHandler } from "@petstore/http-adapter";
import type { DocsFile } from "./docs-file.js";
import { findDocsFiles } from "./docs-files.js";

/** Where a person may end up who looks for the page; relative, to be right behind any proxy. */
const REDIRECTS: ReadonlyMap<string, string> = new Map([
  ["/", "docs"],
  ["/docs/", "../docs"],
]);

/**
 * Nothing but what this server serves: no other host, no inline script, no frame around the page.
 * Swagger UI's own icons are data: images.
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
  message: "This path answers GET, HEAD only.",
  status: 405,
});

/**
 * Creates the handler of the docs page: answers `/openapi.json`, `/docs` and its files, sends `/`
 * to `/docs`, and calls `next` for everything else.
 */
export function createDocsHandler(): NodeHandler {
  const files = findDocsFiles();
  return (request, response, next) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const file = files.get(path);
    const redirect = REDIRECTS.get(path);
    if (file === undefined && redirect === undefined) next?.();
    else if (request.method !== "GET" && request.method !== "HEAD") refuseMethod(response);
    else if (file !== undefined) answerFile(request, response, file());
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

/** Every use of a kept copy is checked with us, so that a new version is seen at once. */
function answerFile(
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
