import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { publishedNames } from "../scripts/packages.js";
import { probe } from "./probe.js";
import { driver, emptyFolder, install } from "./project.js";

const STORE = ["core", "storage-sqlite", "http-adapter"];

test("Nest, Fastify with plugins, h3 and serverless-http", async () => {
  const { folder } = install("hosts/servers", STORE);
  for (const host of ["nest", "fastify", "h3", "serverless-http"])
    await probe(folder, [`${host}.js`]);
});

/** What builds a host; the folder that is moved elsewhere, if it can be; the program in it. */
test.each([
  ["next", "next/dist/bin/next", ".next/standalone", "server.js", "/api/v1"],
  ["nitro", "nitro/dist/cli/index.mjs", ".output", "server/index.mjs", "/v1"],
  ["sveltekit", "vite/bin/vite.js", undefined, "build/index.js", "/v1"],
  ["astro", "astro/astro.js", undefined, "dist/server/entry.mjs", "/v1"],
] as const)("%s, built", async (host, builder, output, program, basePath) => {
  const { folder, run } = install(`hosts/${host}`, STORE);
  if (host === "next")
    cpSync("examples/next-route.ts", join(folder, "app/api/v1/[[...path]]/route.ts"));
  run(`node_modules/${builder}`, "build");
  await probe(output === undefined ? folder : moved(join(folder, output)), [program], basePath);
});

function moved(output: string): string {
  const folder = emptyFolder();
  cpSync(output, folder, { recursive: true });
  return folder;
}

test("Jest, with a CommonJS test", () => {
  const { run } = install("hosts/jest", STORE);
  run("--experimental-vm-modules", "node_modules/jest/bin/jest.js");
});

test("bundles of esbuild, webpack and Rspack, in another folder", async () => {
  const { folder, run } = install("hosts/bundlers", STORE);
  const { name, version, installed } = driver();
  // The driver beside the source is not the one beside the bundle.
  const manifest = join(folder, "node_modules", name, "package.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(version, "1.0.0"));
  for (const bundler of ["esbuild", "webpack", "@rspack/core"]) {
    const bundle = emptyFolder();
    run("bundle.js", bundler, bundle);
    const modules = join(bundle, "node_modules");
    mkdirSync(modules);
    cpSync(installed, join(modules, name), { recursive: true });
    // Version 13 needs none.
    const needed = version.startsWith("12.") ? ["bindings", "file-uri-to-path"] : [];
    for (const each of needed)
      cpSync(join(folder, "node_modules", each), join(modules, each), { recursive: true });
    await probe(bundle, ["server.mjs"]);
  }
});

test("TypeScript finds the types of all packages", () => {
  const { folder, run } = install("hosts/typescript", publishedNames);
  const all = publishedNames.map(
    (name, index) => `export * as p${index} from "@petstore/${name}";`,
  );
  writeFileSync(join(folder, "all.ts"), all.join("\n"));
  const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
  const compile = (compiler: string, module: string, resolution: string) => {
    const how = ["--types", "node", "--module", module, "--moduleResolution", resolution];
    run(`node_modules/${compiler}/bin/tsc`, ...strict, ...how, "all.ts");
  };
  for (const compiler of ["typescript", "typescript-5.4"]) {
    for (const module of ["node16", "nodenext"]) compile(compiler, module, module);
    compile(compiler, "esnext", "bundler");
  }
  // Removed in TypeScript 7.
  compile("typescript-5.4", "commonjs", "node10");
});
