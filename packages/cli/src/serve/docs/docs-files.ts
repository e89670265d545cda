import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { encodeOpenApiDocument, openApiDocument } from "@petstore/http-adapter";
import { toDocsFile, type DocsFile } from "./docs-file.js";

const PAGE_FILES = ["page.css", "page.js", "exact-numbers.js", "indent-json.js"];
const SWAGGER_UI_FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];

/**
 * The files of the docs page, by the path that each is served at.
 * @throws when one cannot be read: the installation is broken.
 */
export function loadDocsFiles(): ReadonlyMap<string, DocsFile> {
  return new Map([
    ["/openapi.json", toDocsFile("openapi.json", encodeOpenApiDocument(openApiDocument))],
    ["/docs", load("index.html")],
    ...[...PAGE_FILES, ...SWAGGER_UI_FILES].map((name) => [`/docs/${name}`, load(name)] as const),
  ]);
}

function load(name: string): DocsFile {
  return toDocsFile(name, readFileSync(find(name)));
}

/** A build puts all files into one folder next to itself; the sources have them in two places. */
function find(name: string): URL | string {
  const built = new URL(`docs/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  return SWAGGER_UI_FILES.includes(name)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    : new URL(`page/${name}`, import.meta.url);
}
