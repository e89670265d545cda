import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { encodeOpenApiDocument, openApiDocument } from "@petstore/http-adapter";
import { toDocsFile, type DocsFile } from "./docs-file.js";

const PAGE_FILES = ["page.css", "page.js", "exact-numbers.js", "indent-json.js"];
const SWAGGER_UI_FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];

/**
 * The files of the docs page, by the path that each is served at; made ready when first asked for,
 * since they are large and few servers are ever asked.
 * @throws when one cannot be read: the installation is broken.
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

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** A build puts all files into one folder next to itself; the sources have them in two places. */
function find(name: string): URL | string {
  const built = new URL(`docs/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  return SWAGGER_UI_FILES.includes(name)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    : new URL(`page/${name}`, import.meta.url);
}
