// Bundles the page of the console into one module that holds its files as text, so that every host and bundler can
// serve them.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleLibraries } from "../../scripts/bundle-libraries.js";

const page = new URL("src/page/", import.meta.url);
const target = fileURLToPath(new URL("page-files.js", import.meta.url));

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Writes the module.
 * @param {import("esbuild").Plugin[]} plugins
 */
export async function buildPage(plugins = []) {
  const { outputFiles } = await build({
    entryPoints: ["main.tsx", "console.css"].map((name) => fileURLToPath(new URL(name, page))),
    outdir: "/",
    entryNames: "[name]",
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["es2022", "chrome111", "firefox114", "safari16.4"],
    // The same in a build and in tests, which run from source.
    alias: {
      "@petstore/core/facts": fileURLToPath(new URL("../core/src/facts.ts", import.meta.url)),
    },
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    plugins,
  });
  const textOf = (/** @type {string} */ name) => readFileSync(new URL(name, page), "utf8");
  const files = [
    ["index.html", TYPES.html, textOf("index.html")],
    ["icon.svg", TYPES.svg, textOf("icon.svg")],
    ...outputFiles.map(({ path, text }) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return [name, name.endsWith(".css") ? TYPES.css : TYPES.js, text];
    }),
  ].map(([name, type, text]) => [name, { type, text }]);
  // Another process may be reading it.
  const temporary = `${target}.${process.pid}`;
  writeFileSync(temporary, `export const pageFiles = new Map(${JSON.stringify(files)});\n`);
  renameSync(temporary, target);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(bundleLibraries);
