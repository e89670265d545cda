import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { publishedNames } from "../scripts/packages.js";
import { probe } from "./probe.js";
import { driver, emptyFolder, install } from "./project.js";

const STORE = ["core", "storage-sqlite", "http-adapter"];

test("Nest, Fastify with plugins, h3 and serverless-http", async () => {
  const project = install("servers", STORE);
  project.copy("checks/hosts", ".");
  for (const host of ["nest", "fastify", "h3", "serverless-http"])
    await probe(project.folder, [`${host}.js`]);
});

test("Next, with the example, and standalone in another folder", async () => {
  const project = install("next", STORE);
  project.copy("examples/next-route.ts", "app/api/v1/[[...path]]/route.ts");
  project.copy("checks/hosts/next.config.mjs", "next.config.mjs");
  project.run("node_modules/next/dist/bin/next", "build");
  const moved = emptyFolder();
  cpSync(join(project.folder, ".next/standalone"), moved, { recursive: true });
  await probe(moved, ["server.js"], "/api/v1");
});

test("Nitro, in another folder", async () => {
  const project = install("nitro", STORE);
  for (const file of ["route.js", "store.js"]) project.copy(`checks/hosts/${file}`, file);
  project.copy("checks/hosts/nitro-route.js", "routes/v1/[...path].js");
  project.run("node_modules/nitro/dist/cli/index.mjs", "build");
  const moved = emptyFolder();
  cpSync(join(project.folder, ".output"), moved, { recursive: true });
  await probe(moved, ["server/index.mjs"]);
});

test("SvelteKit", async () => {
  const project = install("sveltekit", STORE);
  for (const file of ["route.js", "store.js"]) project.copy(`checks/hosts/${file}`, file);
  project.copy("checks/hosts/sveltekit", ".");
  project.run("node_modules/vite/bin/vite.js", "build");
  await probe(project.folder, ["build/index.js"]);
});

test("bundles of esbuild, webpack and Rspack, in another folder", async () => {
  const project = install("bundlers", STORE);
  project.copy("checks/hosts", ".");
  const { name, installed } = driver();
  // The driver beside the source is not the one beside the bundle.
  const manifest = join(project.folder, "node_modules", name, "package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(version, "1.0.0"));
  for (const bundler of ["esbuild", "webpack", "@rspack/core"]) {
    const moved = emptyFolder();
    project.run("bundle.js", bundler, moved);
    const modules = join(moved, "node_modules");
    mkdirSync(modules);
    cpSync(installed, join(modules, name), { recursive: true });
    for (const needed of ["bindings", "file-uri-to-path"])
      cpSync(join(project.folder, "node_modules", needed), join(modules, needed), {
        recursive: true,
      });
    await probe(moved, ["server.mjs"]);
  }
});

test("TypeScript finds the types of all packages", () => {
  const names = publishedNames;
  const project = install("typescript", names);
  const all = names.map((name, index) => `export * as p${index} from "@petstore/${name}";`);
  writeFileSync(join(project.folder, "all.ts"), all.join("\n"));
  for (const [compiler, module, resolution] of [
    ["typescript", "node16", "node16"],
    ["typescript", "nodenext", "nodenext"],
    ["typescript", "esnext", "bundler"],
    ["typescript-5.4", "node16", "node16"],
    ["typescript-5.4", "nodenext", "nodenext"],
    ["typescript-5.4", "esnext", "bundler"],
    // Removed in TypeScript 7.
    ["typescript-5.4", "commonjs", "node10"],
  ] as const) {
    const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
    const how = ["--types", "node", "--module", module, "--moduleResolution", resolution];
    project.run(`node_modules/${compiler}/bin/tsc`, ...strict, ...how, "all.ts");
  }
});
