import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { encodeOpenApiDocument, openApiDocument } from "@petstore/http-adapter";

/** A file that is served unchanged. */
export interface DocsFile {
  /** Its Content-Type. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Changes with the content (RFC 9110, section 8.8.3). */
  readonly etag: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  [".css", "text/css; charset=utf-8"],
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
]);

const PAGE_FILES = ["page.css", "page.js", "exact-numbers.js", "indent-json.js"];
const SWAGGER_UI_FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];

/**
 * Returns the files of the docs page by their paths. Each is hashed at its first request, because the
 * files are large and seldom requested.
 * @throws Error when a file cannot be read: the installation is broken.
 */
export function findDocsFiles(): ReadonlyMap<string, () => DocsFile> {
  return new Map([
    ["/openapi.json", once(documentFile)],
    ["/docs", found("index.html")],
    ...[...PAGE_FILES, ...SWAGGER_UI_FILES].map((name) => [`/docs/${name}`, found(name)] as const),
  ]);
}

function documentFile(): DocsFile {
  return toDocsFile("openapi.json", encodeOpenApiDocument(openApiDocument));
}

function found(name: string): () => DocsFile {
  const bytes = readFileSync(find(name));
  return once(() => toDocsFile(name, bytes));
}

function toDocsFile(name: string, content: string | Uint8Array): DocsFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const digest = createHash("sha256").update(bytes).digest("base64url");
  const type = TYPES.get(extname(name)) ?? "application/octet-stream";
  return { type, bytes, etag: `"${digest}"` };
}

function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => (created ??= { value: create() }).value;
}

/** The build has all files in one directory beside it. In the source tree they are in two places. */
function find(name: string): URL | string {
  const built = new URL(`docs/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  return SWAGGER_UI_FILES.includes(name)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    : new URL(`page/${name}`, import.meta.url);
}
