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
 * The files of the docs page by their paths.
 * @throws if one cannot be read: the installation is broken.
 */
export function readDocsFiles(): ReadonlyMap<string, DocsFile> {
  const openApi = encodeOpenApiDocument(openApiDocument);
  return new Map([
    ["/openapi.json", toDocsFile("openapi.json", Buffer.from(openApi))],
    ["/docs", read("index.html")],
    ...[...PAGE_FILES, ...SWAGGER_UI_FILES].map((name) => [`/docs/${name}`, read(name)] as const),
  ]);
}

function read(name: string): DocsFile {
  return toDocsFile(name, readFileSync(find(name)));
}

function toDocsFile(name: string, bytes: Uint8Array): DocsFile {
  const digest = createHash("sha256").update(bytes).digest("base64url");
  const type = TYPES.get(extname(name)) ?? "application/octet-stream";
  return { type, bytes, etag: `"${digest}"` };
}

/** The build copies all files into one directory beside itself; the sources have them in two places. */
function find(name: string): URL | string {
  const built = new URL(`docs/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  return SWAGGER_UI_FILES.includes(name)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    : new URL(`page/${name}`, import.meta.url);
}
